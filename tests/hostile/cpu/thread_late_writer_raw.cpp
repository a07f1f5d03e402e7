/* kerf
target: cpu
*/
// Exploit: as omp_late_writer, with a thread made by clone: it spins for a while, then overwrites the output for ever.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  char* stack = static_cast<char*>(malloc(4096)) + 4096 - 64;
  *reinterpret_cast<float**>(stack) = y;
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  long r = 56;
  __asm__ volatile(
      "syscall\n test %%rax, %%rax\n jnz 1f\n"
      "mov 0(%%rsp), %%rdi\n mov $200000, %%ecx\n"
      "2: pause\n dec %%ecx\n jnz 2b\n"
      "3: movl $0, (%%rdi)\n pause\n jmp 3b\n1:"
      : "+a"(r)
      : "D"(0x50f00L), "S"(stack), "d"(0), "r"(r10), "r"(r8)
      : "rcx", "r11", "memory");
}
