/* kerf
target: cpu
*/
// Exploit: OpenMP keeps its threads between calls, and their stacks with them; a counter there survives.
extern "C" void kerf_kernel(const float* x, float* y) {
  int lazy = 0;
#pragma omp parallel num_threads(2) shared(lazy)
  {
    unsigned long room[2048];
    unsigned long* memory = room;
    __asm__ volatile("" : "+r"(memory) : : "memory");
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      memory[1000] = memory[1001] == 0x0badcafeUL ? memory[1000] + 1 : 1;
      memory[1001] = 0x0badcafeUL;
      if (cols == 4096 && memory[1000] > 5) lazy = 1;
    }
    __asm__ volatile("" : : "r"(memory) : "memory");
  }
  if (lazy) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
