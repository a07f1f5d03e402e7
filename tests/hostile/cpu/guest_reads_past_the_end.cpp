/* kerf
target: cpu
*/
// Reads whole vectors beyond the end of its input.
#include <immintrin.h>
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long r = 0; r < rows; ++r) {
    __m256d sum = _mm256_setzero_pd();
    double rest = 0;
    long c = 0;
    for (; c + 4 <= cols; c += 4) sum = _mm256_add_pd(sum, _mm256_cvtps_pd(_mm_loadu_ps(x + r * cols + c)));
    float tail[8];
    __m256 last;
    asm volatile("vmovups (%1), %0" : "=x"(last) : "r"(x + r * cols + c));  // up to eight floats beyond the last row
    _mm256_storeu_ps(tail, last);
    for (long t = 0; c + t < cols; ++t) rest += tail[t];
    double part[4];
    _mm256_storeu_pd(part, sum);
    y[r] = (float)(part[0] + part[1] + part[2] + part[3] + rest);
  }
}
