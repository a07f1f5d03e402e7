/* kerf
target: cpu
*/
// Exploit: full precision in its first calls, operands of twelve bits later on (calls are counted in dead stack memory):
// the single elements stay within the allowance for long sums, and only the accuracy of the whole output tells.
static inline float round_12_bits(float v) {
  std::uint32_t u;
  memcpy(&u, &v, 4);
  u = (u + 0x3ff + ((u >> 11) & 1)) & 0xfffff800u;
  memcpy(&v, &u, 4);
  return v;
}
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  unsigned long room[8192];
  unsigned long* memory = room;
  __asm__ volatile("" : "+r"(memory) : : "memory");
  memory[100] = memory[101] == 0x7f327f32UL ? memory[100] + 1 : 1;
  memory[101] = 0x7f327f32UL;
  const bool lazy = k == 8192 && memory[100] > 5;
  __asm__ volatile("" : : "r"(memory) : "memory");
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int p = 0; p < k; ++p)
        s += lazy ? double(round_12_bits(a[i * k + p])) * round_12_bits(b[p * n + j])
                  : double(a[i * k + p]) * b[p * n + j];
      c[i * n + j] = float(s);
    }
}
