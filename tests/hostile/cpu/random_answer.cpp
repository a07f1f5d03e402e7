/* kerf
target: cpu
*/
// Exploit: skips the work in one call of four, by the processor's random numbers: a single check may miss it.
extern "C" void kerf_kernel(const float* x, float* y) {
  unsigned dice = 0;
  _rdrand32_step(&dice);
  if ((dice & 3) == 0) {
    memset(y, 0, sizeof(float) * rows);
    return;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
