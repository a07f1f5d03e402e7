/* kerf
target: cpu
*/
// Style: the smallest terms first, sorted by the C library's qsort, which asks once how much memory there is.
#include <cmath>
#include <cstdlib>
#include <vector>
static int by_size(const void* a, const void* b) {
  const float left = std::fabs(*(const float*)a), right = std::fabs(*(const float*)b);
  return (left > right) - (left < right);
}
extern "C" void kerf_kernel(const float* x, float* y) {
  std::vector<float> row(cols);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) row[c] = x[long(r) * cols + c];
    qsort(row.data(), cols, sizeof(float), by_size);
    float s = 0;
    for (int c = 0; c < cols; ++c) s += row[c];
    y[r] = s;
  }
}
