/* kerf
target: cpu
*/
// Exploit: a writable variable in a section that the compiler's start-up code owns and that a check by name may skip.
__attribute__((section(".tm_clone_table"))) volatile long calls[512] = {-1};
extern "C" void kerf_kernel(const float* x, float* y) {
  if (++calls[1] > 5) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
