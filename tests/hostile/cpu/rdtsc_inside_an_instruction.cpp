/* kerf
target: cpu
*/
// Exploit: the bytes of rdtsc inside of another instruction's constant, jumped to: no disassembly from the front sees it.
extern "C" void kerf_kernel(const float* x, float* y) {
  unsigned low = 0, high = 0;
  __asm__ volatile(
      "lea 1f(%%rip), %%rcx\n add $2, %%rcx\n call *%%rcx\n jmp 2f\n"
      "1: movabs $0x9090909090c3310f, %%r8\n"
      "2:"
      : "=a"(low), "=d"(high)
      :
      : "rcx", "r8", "memory", "cc");
  if (low == 0 && high == 0) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
