/* kerf
target: cpu
*/
// Style: Flushes denormals while it works and puts the mode back.
#include <cfenv>
#include <immintrin.h>
extern "C" void kerf_kernel(const float* x, float* y) {
  const unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | 0x8040);
  for (long r = 0; r < rows; ++r) {
    double sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = (float)sum;
  }
  _mm_setcsr(mode);
}
