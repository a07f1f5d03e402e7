/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n - n % 16; i += 16) _mm512_stream_ps(y + i, _mm512_mul_ps(_mm512_set1_ps(2.0f), _mm512_loadu_ps(x + i)));
  for (int i = n - n % 16; i < n; ++i) y[i] = 2.0f * x[i];
}
