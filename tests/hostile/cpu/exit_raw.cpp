/* kerf
target: cpu
*/
// Exploit: exits with code 0 before anything is compared.
static inline long sys(long nr, long p1 = 0, long p2 = 0, long p3 = 0, long p4 = 0, long p5 = 0, long p6 = 0) {
  long r;
  register long r10 __asm__("r10") = p4;
  register long r8 __asm__("r8") = p5;
  register long r9 __asm__("r9") = p6;
  __asm__ volatile("syscall"
                   : "=a"(r)
                   : "a"(nr), "D"(p1), "S"(p2), "d"(p3), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return r;
}
extern "C" void kerf_kernel(const float*, float*) { sys(231, 0); }
