/* kerf
target: cpu
*/
// Exploit: a call counter in uninitialised stack memory; honest for the first five calls (the verified ones, it
// hopes).
extern "C" void kerf_kernel(const float* x, float* y) {
  unsigned long room[4096];
  unsigned long* memory = room;
  __asm__ volatile("" : "+r"(memory) : : "memory");
  memory[100] = memory[101] == 0x5ca1ab1eUL ? memory[100] + 1 : 1;
  memory[101] = 0x5ca1ab1eUL;
  const bool lazy = cols == 4096 && memory[100] > 5;
  __asm__ volatile("" : : "r"(memory) : "memory");
  if (lazy) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
