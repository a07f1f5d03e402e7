/* kerf
target: cpu
*/
// Style: operands split into three bf16 parts (24 bits), six products: lower-precision units, f32 accuracy.
static inline float head(float v) {
  std::uint32_t u;
  memcpy(&u, &v, 4);
  u &= 0xffff0000u;
  memcpy(&v, &u, 4);
  return v;
}
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float large = 0, small = 0;
      for (int p = 0; p < k; ++p) {
        const float av = a[i * k + p], bv = b[p * n + j];
        if (!std::isfinite(av) || !std::isfinite(bv)) {
          large += av * bv;
          continue;
        }
        const float a0 = head(av), a1 = head(av - a0), a2 = av - a0 - a1;
        const float b0 = head(bv), b1 = head(bv - b0), b2 = bv - b0 - b1;
        large += a0 * b0;
        small += (a0 * b1 + a1 * b0) + (a0 * b2 + a1 * b1 + a2 * b0);
      }
      c[i * n + j] = large + small;
    }
}
