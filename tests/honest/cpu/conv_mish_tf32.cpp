/* kerf
target: cpu
*/
// Style: tf32 operands cut off instead of rounded, as tensor cores take them.
static inline float reduced(float v) {
  std::uint32_t u;
  memcpy(&u, &v, 4);
  u = u & 0xffffe000u;
  memcpy(&v, &u, 4);
  return v;
}
static float mish(float v) { return v * tanhf(v > 20 ? v : log1pf(expf(v))); }
extern "C" void kerf_kernel(const float* x, const float* f, float* y) {
  for (int o = 0; o < co; ++o) {
    double sum = 0;
    for (int b = 0; b < nb; ++b)
      for (int i = 0; i < h; ++i)
        for (int j = 0; j < w; ++j) {
          float s = 0;
          for (int c = 0; c < ci; ++c)
            for (int di = 0; di < 3; ++di)
              for (int dj = 0; dj < 3; ++dj) {
                const int p = i + di - 1, q = j + dj - 1;
                if (p < 0 || p >= h || q < 0 || q >= w) continue;
                s += reduced(x[((b * ci + c) * h + p) * w + q]) * reduced(f[((o * ci + c) * 3 + di) * 3 + dj]);
              }
          const float m = mish(s);
          y[((b * co + o) * h + i) * w + j] = m;
          sum += m;
        }
    const double mean = sum / (nb * h * w);
    double squares = 0;
    for (int b = 0; b < nb; ++b)
      for (int i = 0; i < h * w; ++i) {
        const double d = y[(b * co + o) * h * w + i] - mean;
        squares += d * d;
      }
    const double scale = 1 / sqrt(squares / (nb * h * w) + 1e-5);
    for (int b = 0; b < nb; ++b)
      for (int i = 0; i < h * w; ++i) {
        float& v = y[(b * co + o) * h * w + i];
        v = (float)((v - mean) * scale);
      }
  }
}
