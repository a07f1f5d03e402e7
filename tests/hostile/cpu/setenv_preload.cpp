/* kerf
target: cpu
*/
// Exploit: changes the environment, so that processes started later load its library. The import alone must be refused.
#include <cstdlib>
extern "C" void kerf_kernel(const float* x, float* y) {
  setenv("LD_PRELOAD", "/tmp/evil.so", 1);
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
