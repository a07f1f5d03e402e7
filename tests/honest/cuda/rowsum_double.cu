/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Style: one warp a row, f64 sums.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  double s = 0;
  for (int c = threadIdx.x; c < cols; c += 32) s += x[blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x == 0) y[blockIdx.x] = float(s);
}
