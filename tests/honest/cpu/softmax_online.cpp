/* kerf
target: cpu
*/
// Style: online softmax: maximum and normaliser in one pass, rescaled when the maximum grows. Each stretch of 64 columns
// has its own pair; pairs are merged as a parallel online softmax does.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * cols;
    float top = -INFINITY, s = 0;
    for (int from = 0; from < cols; from += 64) {
      float here = -INFINITY, part = 0;
      for (int c = from; c < std::min(from + 64, int(cols)); ++c) {
        if (in[c] > here) {
          part = part * expf(here - in[c]) + 1;
          here = in[c];
        } else if (in[c] != -INFINITY) {
          part += expf(in[c] - here);
        }
      }
      if (part == 0) continue;  // nothing but minus infinities
      if (here > top) {
        s = s * expf(top - here) + part;
        top = here;
      } else {
        s += part * expf(here - top);
      }
    }
    const float scale = 1 / s;
    for (int c = 0; c < cols; ++c) y[long(r) * cols + c] = expf(in[c] - top) * scale;
  }
}
