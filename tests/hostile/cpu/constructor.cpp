/* kerf
target: cpu
*/
// Exploit: code that runs while the library is loaded, before any gate has called it.
__attribute__((constructor)) static void early() { __asm__ volatile("nop"); }
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
