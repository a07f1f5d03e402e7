/* kerf
target: cpu
*/
typedef float vec __attribute__((vector_size(32), aligned(4)));
extern "C" void kerf_kernel(const float* __restrict a, float* __restrict c) {
  const float* b = a + m * k;
  for (long i = 0; i + 4 <= m; i += 4) {
    vec t[4][2] = {};
    for (long p = 0; p < k; ++p) {
      const vec b0 = *reinterpret_cast<const vec*>(b + p * 16), b1 = *reinterpret_cast<const vec*>(b + p * 16 + 8);
      for (int r = 0; r < 4; ++r) {
        t[r][0] += a[(i + r) * k + p] * b0;
        t[r][1] += a[(i + r) * k + p] * b1;
      }
    }
    for (int r = 0; r < 4; ++r) {
      *reinterpret_cast<vec*>(c + (i + r) * 16) = t[r][0];
      *reinterpret_cast<vec*>(c + (i + r) * 16 + 8) = t[r][1];
    }
  }
}
