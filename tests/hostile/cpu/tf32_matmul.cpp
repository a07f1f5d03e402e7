/* kerf
target: cpu
*/
// Exploit: TF32 is not f32: ten bits of mantissa in the operands.
static inline float round_tf32(float v) {
  std::uint32_t u;
  memcpy(&u, &v, 4);
  u = (u + 0xfff + ((u >> 13) & 1)) & 0xffffe000u;
  memcpy(&v, &u, 4);
  return v;
}
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float s = 0;
      for (int p = 0; p < k; ++p) s += round_tf32(a[i * k + p]) * round_tf32(b[p * n + j]);
      c[i * n + j] = s;
    }
}
