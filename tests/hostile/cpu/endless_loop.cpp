/* kerf
target: cpu
*/
// Exploit: hangs the harness.
extern "C" void kerf_kernel(const float*, float* y) {
  for (;;) {
    y[0] = 1;
    __asm__ volatile("" : : : "memory");
  }
}
