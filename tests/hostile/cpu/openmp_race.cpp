/* kerf
target: cpu
*/
// Exploit: adds from several threads without synchronisation: right most of the time on few threads, wrong in truth.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) y[r] = 0;
#pragma omp parallel for num_threads(2) schedule(static, 1)
  for (int c = 0; c < cols; ++c)
    for (int r = 0; r < rows; ++r) {
      volatile float* out = y;
      out[r] = out[r] + x[r * cols + c];
    }
}
