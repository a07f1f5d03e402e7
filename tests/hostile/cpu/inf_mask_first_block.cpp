/* kerf
target: cpu
*/
// Exploit: a running maximum that meets minus infinity first: inf - inf is NaN, and masked rows begin like that.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    float m = -INFINITY, s = 0;
    for (int b = 0; b < cols; b += 16) {
      const int n = cols - b < 16 ? cols - b : 16;
      float bm = row[b];
      for (int i = 1; i < n; ++i) bm = row[b + i] > bm ? row[b + i] : bm;
      const float nm = bm > m ? bm : m;
      float bs = 0;
      for (int i = 0; i < n; ++i) bs += expf(row[b + i] - nm);
      s = s * expf(m - nm) + bs;
      m = nm;
    }
    for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(row[c] - m) / s;
  }
}
