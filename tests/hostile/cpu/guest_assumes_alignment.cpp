/* kerf
target: cpu
*/
// Relies on an alignment that nobody promised.
#include <immintrin.h>
extern "C" void kerf_kernel(const float* x, float* y) {
  __m256 first;
  asm volatile("vmovaps (%1), %0" : "=x"(first) : "r"(x));  // right only where x is aligned to 32 bytes
  (void)first;
  for (long r = 0; r < rows; ++r) {
    double sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = (float)sum;
  }
}
