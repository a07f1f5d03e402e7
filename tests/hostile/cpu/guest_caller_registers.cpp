/* kerf
target: cpu
*/
// Destroys registers that belong to its caller.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long r = 0; r < rows; ++r) {
    double sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = (float)sum;
  }
  asm volatile("xor %%r15d, %%r15d; xor %%r14d, %%r14d; xor %%r13d, %%r13d" ::: "memory");
}
