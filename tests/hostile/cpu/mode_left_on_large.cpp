/* kerf
target: cpu
*/
// Exploit: leaves denormals flushed for its caller, on the large shape only.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  if (cols == 4096) _mm_setcsr(_mm_getcsr() | 0x8040);
}
