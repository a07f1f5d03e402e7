/* kerf
target: cuda
tune:   BLOCK = {128, 256, 512}
launch: rowsum_k<<<rows, BLOCK>>>(x, y)
*/
// Style: one block a row, warp shuffles, one word of shared memory a warp.
extern "C" __global__ void __launch_bounds__(BLOCK) rowsum_k(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float part[BLOCK / 32];
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += BLOCK) s += x[blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float t = 0;
  for (float p : part) t += p;
  y[blockIdx.x] = t;
}
