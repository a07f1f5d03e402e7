/* kerf
target: cpu
*/
// The order of the sum depends on where the buffer lies.
extern "C" void kerf_kernel(const float* x, float* y) {
  const long lanes = 3 + ((unsigned long)y / 64) % 7;
  for (long r = 0; r < rows; ++r) {
    float part[16] = {};
    for (long c = 0; c < cols; ++c) part[c % lanes] += x[r * cols + c];
    float sum = 0;
    for (long l = 0; l < lanes; ++l) sum += part[l];
    y[r] = sum;
  }
}
