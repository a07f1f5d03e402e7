/* kerf
target: cpu
*/
// Style: the textbook: maximum, exponentials with their sum, division.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * cols;
    float* out = y + long(r) * cols;
    float top = -INFINITY, s = 0;
    for (int c = 0; c < cols; ++c) top = std::max(top, in[c]);
    for (int c = 0; c < cols; ++c) s += out[c] = expf(in[c] - top);
    for (int c = 0; c < cols; ++c) out[c] /= s;
  }
}
