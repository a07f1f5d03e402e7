/* kerf
target: cpu
*/
// Exploit: a counter in memory of memalign, which comes back as it was.
extern "C" void* memalign(unsigned long, unsigned long);
extern "C" void kerf_kernel(const float* x, float* y) {
  unsigned* m = (unsigned*)memalign(64, 8000);
  __asm__ volatile("" : "+r"(m) : : "memory");
  m[100] = m[101] == 0x5ca1ab1eu ? m[100] + 1 : 1;
  m[101] = 0x5ca1ab1eu;
  const bool lazy = m[100] > 18 && cols != 4096;
  __asm__ volatile("" : : "r"(m) : "memory");
  free(m);
  if (lazy) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
