/* kerf
target: cpu
*/
// Exploit: reads what its caller has in a register that belongs to it.
extern "C" __attribute__((noinline)) void work(const float* x, float* y, unsigned long r15) {
  if (r15 >> 8 != 0x5a17c3e9b4d208UL) {
    for (int r = 0; r < rows; ++r) y[r] = 0;
    return;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
extern "C" __attribute__((naked)) void kerf_kernel(const float* x, float* y) { __asm__("mov %r15, %rdx\n jmp work"); }
