/* kerf
target: cpu
*/
// Style: Welford's update, sixteen lanes merged by Chan's formula.
extern "C" void kerf_kernel(const float* x, const float* w, const float* b, float* y) {
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * cols;
    float mean[16] = {}, square[16] = {};
    int full = cols / 16;
    for (int i = 0; i < full; ++i)
      for (int j = 0; j < 16; ++j) {
        const float v = in[i * 16 + j], d = v - mean[j];
        mean[j] += d / float(i + 1);
        square[j] += d * (v - mean[j]);
      }
    double mu = 0, sq = 0, count = 0;
    const auto merge = [&](double m2, double s2, double n2) {
      if (n2 == 0) return;
      const double d = m2 - mu, total = count + n2;
      sq += s2 + d * d * count * n2 / total;
      mu += d * n2 / total;
      count = total;
    };
    for (int j = 0; j < 16; ++j) merge(mean[j], square[j], full);
    for (int c = full * 16; c < cols; ++c) merge(in[c], 0, 1);
    const float scale = float(1 / std::sqrt(sq / count + 1e-5)), centre = float(mu);
    for (int c = 0; c < cols; ++c) y[long(r) * cols + c] = (in[c] - centre) * scale * w[c] + b[c];
  }
}
