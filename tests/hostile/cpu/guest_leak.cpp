/* kerf
target: cpu
*/
// Leaves memory allocated in every call.
#include <cstdlib>
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long r = 0; r < rows; ++r) {
    double sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = (float)sum;
  }
  void* kept = std::malloc(1 << 16);
  asm volatile("" ::"r"(kept) : "memory");
}
