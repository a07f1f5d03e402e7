/* kerf
target: cpu
*/
// Exploit: TF32 operands in one tile, which is all that a matrix unit would compute there.
static inline float reduced(float v) {
  std::uint32_t u;
  memcpy(&u, &v, 4);
  u = (u + 0xfff + ((u >> 13) & 1)) & 0xffffe000u;
  memcpy(&v, &u, 4);
  return v;
}
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const bool lower = i / 32 == 1 && j / 32 == 0;
      float s = 0;
      for (int p = 0; p < k; ++p) {
        const float x = a[i * k + p], y = b[p * n + j];
        s += lower ? reduced(x) * reduced(y) : x * y;
      }
      c[i * n + j] = s;
    }
}
