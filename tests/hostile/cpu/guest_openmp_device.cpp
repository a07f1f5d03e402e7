/* kerf
target: cpu
*/
#include <omp.h>
// Exploit: the number of OpenMP's default device counts the calls; the program that calls finds another one.
extern "C" void kerf_kernel(const float* x, float* y) {
  omp_set_default_device(omp_get_default_device() + 1);
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
