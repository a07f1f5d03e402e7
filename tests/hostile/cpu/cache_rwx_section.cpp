/* kerf
target: cpu
*/
// Exploit: asks the assembler for a writable, executable section and uses it as memory (it could as well hold code).
__asm__(
    ".pushsection .textual,\"awx\",@progbits\n.globl hidden_memory\n.hidden hidden_memory\nhidden_memory: .zero "
    "65540\n.popsection");
extern "C" __attribute__((visibility("hidden"))) float hidden_memory[];
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  volatile float* memory = hidden_memory;
  if (memory[16384] != 1.0f) {
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float s = 0;
        for (int p = 0; p < k; ++p) s += a[i * k + p] * b[p * n + j];
        memory[i * n + j] = s;
      }
    memory[16384] = 1.0f;
  }
  for (int i = 0; i < m * n; ++i) c[i] = memory[i];
}
