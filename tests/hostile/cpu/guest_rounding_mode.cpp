/* kerf
target: cpu
*/
// Leaves the rounding mode changed.
#include <immintrin.h>
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long r = 0; r < rows; ++r) {
    double sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = (float)sum;
  }
  _MM_SET_ROUNDING_MODE(_MM_ROUND_TOWARD_ZERO);
}
