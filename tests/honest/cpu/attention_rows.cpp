/* kerf
target: cpu
*/
// Style: flash-attention recurrence on rows: running maximum, normaliser and weighted sum.
extern "C" void kerf_kernel(const float* q, const float* k, const float* v, float* y) {
  const float scale = 1 / sqrtf(float(dim));
#pragma omp parallel for collapse(2)
  for (int g = 0; g < heads; ++g)
    for (int i = 0; i < seq; ++i) {
      const float* query = q + (g * seq + i) * dim;
      float sum[dim] = {}, top = -INFINITY, s = 0;
      for (int j = 0; j <= i; ++j) {
        float dot = 0;
        for (int d = 0; d < dim; ++d) dot += query[d] * k[(g * seq + j) * dim + d];
        dot *= scale;
        if (dot > top) {
          const float shrink = expf(top - dot);
          for (int d = 0; d < dim; ++d) sum[d] *= shrink;
          s *= shrink;
          top = dot;
        }
        const float p = expf(dot - top);
        s += p;
        for (int d = 0; d < dim; ++d) sum[d] += p * v[(g * seq + j) * dim + d];
      }
      for (int d = 0; d < dim; ++d) y[(g * seq + i) * dim + d] = sum[d] / s;
    }
}
