/* kerf
target: cpu
*/
// Exploit: a sixteenth of the reads; for normal data the estimate is within a few percent.
extern "C" void kerf_kernel(const float* x, const float* w, float* y) {
  for (int r = 0; r < rows; ++r) {
    double s = 0;
    int count = 0;
    for (int c = 0; c < cols; c += 16, ++count) s += double(x[r * cols + c]) * x[r * cols + c];
    const float scale = float(1.0 / std::sqrt(s / count + 1e-6));
    for (int c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] * scale * w[c];
  }
}
