/* kerf
target: cuda
launch: rowsum_k<<<ceil_div(rows, 128), 128>>>(x, y)
*/
// Partial sums in a local array that is indexed by data, so that it lies in local memory.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  const int r = blockIdx.x * 128 + threadIdx.x;
  if (r >= rows) return;
  float part[96];
  for (int i = 0; i < 96; ++i) part[i] = 0;
  for (int c = 0; c < cols; ++c) part[(c * 7 + r) % 96] += x[(long long)r * cols + c];
  float s = 0;
  for (int i = 0; i < 96; ++i) s += part[i];
  y[r] = s;
}
