/* kerf
target: cpu
*/
// Exploit: sixteen bits of operand precision out of two bf16 parts: between bf16 and f32, and not f32.
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
      for (int p = 0; p < k; ++p) {
        const float ah = round_bf16(a[i * k + p]), bh = round_bf16(b[p * n + j]);
        const float al = round_bf16(a[i * k + p] - ah), bl = round_bf16(b[p * n + j] - bh);
        s += ah * bh + (ah * bl + al * bh);
      }
      c[i * n + j] = s;
    }
}
