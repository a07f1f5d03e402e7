/* kerf
target: cpu
*/
// Style: the textbook: maximum, exponentials with their sum, division. Eight partial sums, as a vector loop has them: one
// running sum over a long row loses the terms that are below a rounding of it (docs/verification.md).
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * cols;
    float* out = y + long(r) * cols;
    float top = -INFINITY, part[8] = {};
    for (int c = 0; c < cols; ++c) top = std::max(top, in[c]);
    for (int c = 0; c < cols; ++c) part[c % 8] += out[c] = expf(in[c] - top);
    float s = 0;
    for (const float p : part) s += p;
    for (int c = 0; c < cols; ++c) out[c] /= s;
  }
}
