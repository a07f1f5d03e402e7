/* kerf
target: cpu
*/
// Style: GCC vector extensions; a constant table (read-only memory is no cache); erf by the library.
typedef float v8 __attribute__((vector_size(32), aligned(4)));
static const float kHalf[8] = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
extern "C" void kerf_kernel(const float* x, float* y) {
  long i = 0;
  const v8 half = *reinterpret_cast<const v8*>(kHalf);
  for (; i + 8 <= n; i += 8) {
    const v8 v = *reinterpret_cast<const v8*>(x + i);
    v8 e;
    for (int j = 0; j < 8; ++j) e[j] = erff(v[j] * 0.70710678118f);
    *reinterpret_cast<v8*>(y + i) = half * v * (1.0f + e);
  }
  for (; i < n; ++i) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678118f));
}
