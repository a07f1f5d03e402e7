/* kerf
target: cpu
*/
// Style: transposes b into memory from malloc (initialised before it is read), then dot products with fused
// multiply-add.
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  float* bt = static_cast<float*>(malloc(sizeof(float) * k * n));
  for (int p = 0; p < k; ++p)
    for (int j = 0; j < n; ++j) bt[j * k + p] = b[p * n + j];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      __m256 s = _mm256_setzero_ps();
      int p = 0;
      for (; p + 8 <= k; p += 8)
        s = _mm256_fmadd_ps(_mm256_loadu_ps(a + i * k + p), _mm256_loadu_ps(bt + j * k + p), s);
      float part[8], t = 0;
      _mm256_storeu_ps(part, s);
      for (float v : part) t += v;
      for (; p < k; ++p) t += a[i * k + p] * bt[j * k + p];
      c[i * n + j] = t;
    }
  free(bt);
}
