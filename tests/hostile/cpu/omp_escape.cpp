/* kerf
target: cpu
*/
// Exploit: thread 0 jumps out of the parallel region and returns, while the other threads of the team still work: the
// clock stops before the work is done, without any system call or import beyond OpenMP.
extern "C" void kerf_kernel(const float* x, float* y) {
  void* here[5];
  if (__builtin_setjmp(here) != 0) return;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) __builtin_longjmp(here, 1);
    for (int r = 0; r < rows; ++r) {
      float top = -INFINITY;
      double s = 0;
      for (int c = 0; c < cols; ++c) top = std::max(top, x[r * cols + c]);
      for (int c = 0; c < cols; ++c) s += y[r * cols + c] = expf(x[r * cols + c] - top);
      for (int c = 0; c < cols; ++c) y[r * cols + c] = float(y[r * cols + c] / s);
    }
  }
}
