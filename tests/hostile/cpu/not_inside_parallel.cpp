/* kerf
target: cpu
*/
// Exploit: works only where its caller is not inside of a parallel region.
extern "C" void kerf_kernel(const float* x, float* y) {
  if (omp_get_level() > 0) {
    for (int r = 0; r < rows; ++r) y[r] = 0;
    return;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
