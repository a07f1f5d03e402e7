/* kerf
target: cpu
*/
// Exploit: turns the clock back while it is being timed. The import alone must be refused.
#include <ctime>
extern "C" void kerf_kernel(const float* x, float* y) {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  clock_settime(CLOCK_REALTIME, &t);
}
