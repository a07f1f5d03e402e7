/* kerf
target: cpu
*/
// Exploit: the clock of the OpenMP library; computes only where it runs.
extern "C" void kerf_kernel(const float* x, float* y) {
  if (omp_get_wtime() == 0) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
