/* kerf
target: cpu
*/
// Style: Some stack and heap, given back.
#include <vector>
extern "C" void kerf_kernel(const float* x, float* y) {
  double part[1 << 18];  // 2 MiB
  std::vector<double> sums(rows);
  for (long r = 0; r < rows; ++r) {
    for (long c = 0; c < cols; ++c) part[c] = x[r * cols + c];
    for (long c = 0; c < cols; ++c) sums[r] += part[c];
  }
  for (long r = 0; r < rows; ++r) y[r] = (float)sums[r];
}
