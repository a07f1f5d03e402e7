/* kerf
target: cuda
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
extern "C" __global__ void run( const float* x,  float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[(blockIdx.x * blockDim.x + threadIdx.x)];
  __syncthreads();
  y[(blockIdx.x * blockDim.x + threadIdx.x)] = tile[63 - threadIdx.x];
}
