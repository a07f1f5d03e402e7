/* kerf
target: cpu
*/
// Leaves the x87 unit in single precision.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long r = 0; r < rows; ++r) {
    double sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = (float)sum;
  }
  unsigned short word = 0x007f;
  asm volatile("fldcw %0" ::"m"(word));
}
