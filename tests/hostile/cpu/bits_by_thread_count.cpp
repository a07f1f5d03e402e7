/* kerf
target: cpu
*/
// The order of the sum depends on the number of threads.
#include <omp.h>
extern "C" void kerf_kernel(const float* x, float* y) {
  const long parts = omp_get_max_threads();
  for (long r = 0; r < rows; ++r) {
    float sum = 0;
    for (long p = 0; p < parts; ++p) {
      float part = 0;
      for (long c = p; c < cols; c += parts) part += x[r * cols + c];
      sum += part;
    }
    y[r] = sum;
  }
}
