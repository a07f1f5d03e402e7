/* kerf
target: cpu
*/
// Style: online softmax: maximum and normaliser in one pass, rescaled when the maximum grows.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * cols;
    float top = -INFINITY, s = 0;
    for (int c = 0; c < cols; ++c) {
      if (in[c] > top) {
        s = s * expf(top - in[c]) + 1;
        top = in[c];
      } else {
        s += expf(in[c] - top);
      }
    }
    const float scale = 1 / s;
    for (int c = 0; c < cols; ++c) y[long(r) * cols + c] = expf(in[c] - top) * scale;
  }
}
