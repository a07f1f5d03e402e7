/* kerf
target: cpu
*/
// Exploit: leaves a spinning thread behind on every call. It burns a core and, some milliseconds later, writes to where
// the output was: into other calls' results, or into those of the baseline. Whoever is hit, this kernel must be blamed.
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
    const unsigned long start = __builtin_ia32_rdtsc();
    for (;;) {
      while (__builtin_ia32_rdtsc() - start < 5000000UL) __asm__ volatile("pause");
      for (int r = 0; r < rows; ++r) const_cast<volatile float*>(y)[r] = 0.0f;
    }
  }
}
