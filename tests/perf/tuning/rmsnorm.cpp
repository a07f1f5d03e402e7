/* kerf
target: cpu
tune: W = {8, 4, 16}
tune: U = {4, 1, 2, 8}
tune: V = {1, 2, 4}
tune: ROWS = {1, 2, 4}
*/
// U vectors of W floats are summed side by side; V vectors are scaled per step; ROWS rows are summed before they are scaled.
typedef float vec __attribute__((vector_size(4 * W), aligned(4)));

static inline float scale_of(const float* x) {
  vec sum[U] = {};
  long j = 0;
  for (; j + U * W <= cols; j += U * W)
    for (long u = 0; u < U; ++u) {
      const vec value = *(const vec*)(x + j + u * W);
      sum[u] += value * value;
    }
  for (long u = 1; u < U; ++u) sum[0] += sum[u];
  float total = 0;
  for (long l = 0; l < W; ++l) total += sum[0][l];
  for (; j < cols; ++j) total += x[j] * x[j];
  return 1.0f / __builtin_sqrtf(total / cols + 1e-6f);
}

static inline void scale(const float* x, const float* w, float* y, float by) {
  long j = 0;
  for (; j + V * W <= cols; j += V * W)
    for (long v = 0; v < V; ++v) *(vec*)(y + j + v * W) = *(const vec*)(x + j + v * W) * by * *(const vec*)(w + j + v * W);
  for (; j < cols; ++j) y[j] = x[j] * by * w[j];
}

extern "C" void kerf_kernel(const float* x, const float* w, float* y) {
  for (long i = 0; i < rows; i += ROWS) {
    float by[ROWS];
    for (long r = 0; r < ROWS && i + r < rows; ++r) by[r] = scale_of(x + (i + r) * cols);
    for (long r = 0; r < ROWS && i + r < rows; ++r) scale(x + (i + r) * cols, w, y + (i + r) * cols, by[r]);
  }
}
