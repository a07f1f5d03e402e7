/* kerf
target: cuda
launch: rowsum_k<<<ceil_div(rows, 4), 128>>>(x, y)
*/
// A warp per row; the lane and its mask are read from special registers, as hand-written code does.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  unsigned lane, below;
  asm("mov.u32 %0, %laneid;" : "=r"(lane));
  asm("mov.u32 %0, %lanemask_lt;" : "=r"(below));
  const int r = blockIdx.x * 4 + threadIdx.x / 32;
  if (r >= rows) return;
  float s = 0;
  for (int c = lane; c < cols; c += 32) s += x[(long long)r * cols + c];
  for (int half = 16; half > 0; half /= 2) s += __shfl_down_sync(0xffffffffu, s, half);
  if (below == 0) y[r] = s;
}
