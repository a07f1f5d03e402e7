/* kerf
target: cpu
*/
// Exploit: threads must be allowed for OpenMP; this one is made by clone and works on after the call has returned, so
// that the clock stops before the work is done.
static void work(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float top = -INFINITY;
    double s = 0;
    for (int c = 0; c < cols; ++c) top = std::max(top, x[r * cols + c]);
    for (int c = 0; c < cols; ++c) s += y[r * cols + c] = expf(x[r * cols + c] - top);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = float(y[r * cols + c] / s);
  }
}
extern "C" void kerf_kernel(const float* x, float* y) {
  char* stack = static_cast<char*>(malloc(65536)) + 65536 - 64;
  stack = reinterpret_cast<char*>(reinterpret_cast<unsigned long>(stack) & ~63UL);
  struct Job {
    const float* x;
    float* y;
    void (*work)(const float*, float*);
  };
  Job* job = reinterpret_cast<Job*>(stack);
  *job = {x, y, work};
  // VM | FS | FILES | SIGHAND | THREAD | SYSVSEM
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  long r = 56;
  __asm__ volatile(
      "syscall\n test %%rax, %%rax\n jnz 1f\n"
      "mov 0(%%rsp), %%rdi\n mov 8(%%rsp), %%rsi\n mov 16(%%rsp), %%rax\n call *%%rax\n"
      "xor %%edi, %%edi\n mov $60, %%eax\n syscall\n1:"
      : "+a"(r)
      : "D"(0x50f00L), "S"(stack), "d"(0), "r"(r10), "r"(r8)
      : "rcx", "r11", "memory");
}
