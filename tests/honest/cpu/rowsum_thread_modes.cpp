/* kerf
target: cpu
*/
// Style: every thread flushes denormals while it works and puts its own mode back.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel
  {
    const unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | 0x8040);
#pragma omp for
    for (int r = 0; r < rows; ++r) {
      float s = 0;
      for (int c = 0; c < cols; ++c) s += x[long(r) * cols + c];
      y[r] = s;
    }
    _mm_setcsr(mode);
  }
}
