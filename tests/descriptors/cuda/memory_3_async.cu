/* kerf
target: cuda
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
extern "C" __global__ void run(const float* x, float* y) {
  __shared__ float tile[64];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + blockIdx.x * 64 + threadIdx.x));
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  y[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}
