/* kerf
target: cpu
*/
// MMX without emms: the caller's long double arithmetic gives NaN.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long r = 0; r < rows; ++r) {
    double sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = (float)sum;
  }
  asm volatile("movq %%rax, %%mm0" ::: "memory");
}
