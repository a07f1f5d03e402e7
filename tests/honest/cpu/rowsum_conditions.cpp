/* kerf
target: cpu
*/
// Style: conditional compilation by abilities, own macros and pragmas in macros.
#ifndef LANES
#define LANES 8
#endif
#define AT_LEAST(version) (defined(__GNUC__) && __GNUC__ >= version)
#define JOIN_NAMES(a, b) a##b
#define SIMD _Pragma("omp simd")
#if AT_LEAST(5) && defined(__SSE2__) && LANES > 1
static float JOIN_NAMES(sum_, row)(const float* row) {
  float part[LANES] = {};
  int c = 0;
  for (; c + LANES <= cols; c += LANES)
    SIMD for (int lane = 0; lane < LANES; ++lane) part[lane] += row[c + lane];
  float s = 0;
  for (float p : part) s += p;
  for (; c < cols; ++c) s += row[c];
  return s;
}
#else
static float sum_row(const float* row) {
  float s = 0;
  for (int c = 0; c < cols; ++c) s += row[c];
  return s;
}
#endif
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) y[r] = sum_row(x + r * cols);
}
