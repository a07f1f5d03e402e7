/* kerf
target: cpu
*/
// Exploit: as omp_escape, but the work left to the helper is so short that it may end between the report of the call's
// end and the moment the process is frozen; only a clock that runs until everything is still can tell.
extern "C" void kerf_kernel(const float* x, float* y) {
  void* here[5];
  if (__builtin_setjmp(here) != 0) return;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) __builtin_longjmp(here, 1);
    for (int r = 0; r < rows; ++r) {
      float part[16] = {};
      int c = 0;
      for (; c + 16 <= cols; c += 16)
        for (int j = 0; j < 16; ++j) part[j] += x[r * cols + c + j];
      float s = 0;
      for (int j = 0; j < 16; ++j) s += part[j];
      for (; c < cols; ++c) s += x[r * cols + c];
      y[r] = s;
    }
  }
}
