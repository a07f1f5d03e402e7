/* kerf
target: cpu
*/
// Exploit: asks another machine for the answer. The imports alone must be refused.
#include <sys/socket.h>
extern "C" void kerf_kernel(const float* x, float* y) {
  socket(AF_INET, SOCK_STREAM, 0);
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
