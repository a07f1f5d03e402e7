/* kerf
target: cuda
launch: rowsum_k<<<(rows + 31) / 32, 32>>>(x, y)
*/
// Style: one thread a row.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
}
