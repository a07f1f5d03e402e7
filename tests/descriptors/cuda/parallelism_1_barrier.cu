/* kerf
target: cuda
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
extern "C" __global__ void run( const float* x,  float* y) {
  __shared__ float part[64];
  part[threadIdx.x] = x[(blockIdx.x * blockDim.x + threadIdx.x)];
  for (int s = 32; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}
