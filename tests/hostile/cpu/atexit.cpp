/* kerf
target: cpu
*/
// Exploit: leaves code behind that runs when the process ends. The import alone must be refused.
#include <cstdlib>
static void later() { std::abort(); }
extern "C" void kerf_kernel(const float* x, float* y) {
  std::atexit(later);
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
