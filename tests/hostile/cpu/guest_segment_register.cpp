/* kerf
target: cpu
*/
// Exploit: four values fit into a segment register that programs have no use for.
extern "C" void kerf_kernel(const float* x, float* y) {
  asm volatile("movl $3, %%eax; movl %%eax, %%es" ::: "eax");
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
