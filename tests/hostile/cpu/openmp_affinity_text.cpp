/* kerf
target: cpu
*/
#include <omp.h>
// Exploit: OpenMP says on which machine and in which process the kernel runs, and keeps a text from call to call.
extern "C" void kerf_kernel(const float* x, float* y) {
  char text[64] = {};
  omp_capture_affinity(text, sizeof text, "%P");
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = text[0] != 'k' ? s : 0;
  }
}
