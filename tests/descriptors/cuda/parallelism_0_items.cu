/* kerf
target: cuda
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
extern "C" __global__ void run( const float* x,  float* y) {
  y[(blockIdx.x * blockDim.x + threadIdx.x)] = x[(blockIdx.x * blockDim.x + threadIdx.x)] + 1.0f;
}
