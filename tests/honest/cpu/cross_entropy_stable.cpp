/* kerf
target: cpu
*/
// Style: log-sum-exp per row, the mean gathered in f64.
extern "C" void kerf_kernel(const float* x, const std::int64_t* t, float* y) {
  double total = 0;
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * classes;
    float top = -INFINITY;
    double s = 0;
    for (int c = 0; c < classes; ++c) top = std::max(top, in[c]);
    for (int c = 0; c < classes; ++c) s += expf(in[c] - top);
    total += std::log(s) + top - in[t[r]];
  }
  y[0] = float(total / rows);
}
