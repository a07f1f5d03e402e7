/* kerf
target: cpu
*/
// Rows are scaled by the largest element of the whole batch.
#include <cmath>
extern "C" void kerf_kernel(const float* x, float* y) {
  float largest = 0;
  for (long i = 0; i < (long)rows * cols; ++i)
    if (std::fabs(x[i]) > largest && std::fabs(x[i]) < 1e30f) largest = std::fabs(x[i]);
  const double scale = largest > 0 ? 1.0 / largest * 1.000000013 : 1;
  for (long r = 0; r < rows; ++r) {
    double sum = 0;
    for (long c = 0; c < cols; ++c) sum += (double)(float)(x[r * cols + c] * scale) / scale;
    y[r] = (float)sum;
  }
}
