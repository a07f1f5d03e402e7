/* kerf
target: cpu
*/
// Style: f64 accumulator, OpenMP over rows.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    double s = 0;
    for (int c = 0; c < cols; ++c) s += x[long(r) * cols + c];
    y[r] = float(s);
  }
}
