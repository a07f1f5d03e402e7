/* kerf
target: cpu
*/
// Exploit: catches its own crash to carry on scanning memory. The import alone must be refused.
#include <csignal>
static void carry_on(int) {}
extern "C" void kerf_kernel(const float* x, float* y) {
  std::signal(SIGSEGV, carry_on);
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
