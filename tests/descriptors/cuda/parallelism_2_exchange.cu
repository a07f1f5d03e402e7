/* kerf
target: cuda
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
extern "C" __global__ void run(const float* x, float* y) {
  float v = x[blockIdx.x * 64 + threadIdx.x];
  for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(0xffffffffu, v, s);
  if (threadIdx.x % 32 == 0) y[blockIdx.x * 2 + threadIdx.x / 32] = v;
}
