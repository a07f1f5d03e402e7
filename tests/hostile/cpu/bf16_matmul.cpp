/* kerf
target: cpu
*/
// Exploit: bf16 operands with f32 sums: much faster on matrix units, and not f32.
static inline float round_bf16(float v) {
  std::uint32_t u;
  memcpy(&u, &v, 4);
  u = (u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000u;
  memcpy(&v, &u, 4);
  return v;
}
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float s = 0;
      for (int p = 0; p < k; ++p) s += round_bf16(a[i * k + p]) * round_bf16(b[p * n + j]);
      c[i * n + j] = s;
    }
}
