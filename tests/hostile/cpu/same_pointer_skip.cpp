/* kerf
target: cpu
*/
// Exploit: believes that an output it has filled once is still full; remembers addresses in recycled heap memory.
extern "C" void kerf_kernel(const float* x, float* y) {
  const float** seen = static_cast<const float**>(malloc(8192));
  __asm__ volatile("" : "+r"(seen) : : "memory");
  bool known = false;
  if (seen[10] == reinterpret_cast<const float*>(0x7e57ab1eL)) {
    for (int i = 11; i < 1000; ++i) known |= seen[i] == y;
  } else {
    memset(seen, 0, 8192);
    seen[10] = reinterpret_cast<const float*>(0x7e57ab1eL);
  }
  int slot = 11;
  while (slot < 999 && seen[slot]) ++slot;
  seen[slot] = y;
  __asm__ volatile("" : : "r"(seen) : "memory");
  free(seen);
  if (known) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
