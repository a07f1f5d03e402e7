/* kerf
target: cuda
launch: sm<<<(rows + 3) / 4, (32, 4)>>>(x, y)
*/
// Style: one warp a row, two-dimensional blocks, values kept in registers where they fit.
extern "C" __global__ void sm(const float* x, float* y) {
  const int r = blockIdx.x * 4 + threadIdx.y;
  if (r >= rows) return;
  constexpr int kEach = (cols + 31) / 32;
  float v[kEach], top = __int_as_float(0xff800000), s = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int c = i * 32 + threadIdx.x;
    v[i] = c < cols ? x[r * cols + c] : __int_as_float(0xff800000);
    top = fmaxf(top, v[i]);
  }
  for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
#pragma unroll
  for (int i = 0; i < kEach; ++i) s += v[i] = expf(v[i] - top);
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(~0u, s, d);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int c = i * 32 + threadIdx.x;
    if (c < cols) y[r * cols + c] = v[i] / s;
  }
}
