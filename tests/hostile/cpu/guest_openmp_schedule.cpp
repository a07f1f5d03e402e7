/* kerf
target: cpu
*/
// Leaves the schedule of its caller's loops changed.
#include <omp.h>
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long r = 0; r < rows; ++r) {
    double sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = (float)sum;
  }
  omp_set_schedule(omp_sched_guided, 7);
}
