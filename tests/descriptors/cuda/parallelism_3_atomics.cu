/* kerf
target: cuda
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
extern "C" __global__ void run(const float* x, float* y) {
  atomicAdd(y, x[blockIdx.x * 64 + threadIdx.x]);
}
