/* kerf
target: cpu
*/
#include <omp.h>

#include <vector>
// Style: one partial sum per thread, however many there are.
extern "C" void kerf_kernel(const float* x, float* y) {
  std::vector<double> parts(static_cast<std::size_t>(omp_get_max_threads()) * 16);
  for (int r = 0; r < rows; ++r) {
    std::fill(parts.begin(), parts.end(), 0.0);
#pragma omp parallel for
    for (int c = 0; c < cols; ++c) parts[static_cast<std::size_t>(omp_get_thread_num()) * 16] += x[r * cols + c];
    double sum = 0;
    for (const double part : parts) sum += part;
    y[r] = static_cast<float>(sum);
  }
}
