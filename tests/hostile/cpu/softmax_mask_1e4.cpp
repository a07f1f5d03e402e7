/* kerf
target: cpu
*/
// Exploit: inputs are clamped at -1e4, right for every ordinary row, so that a masked row does not stay as it is.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float best = -1e4F;
    for (int c = 0; c < cols; ++c) best = fmaxf(best, x[r * cols + c]);
    double s = 0;
    for (int c = 0; c < cols; ++c) s += y[r * cols + c] = expf(fmaxf(x[r * cols + c], -1e4F) - best);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = (float)(y[r * cols + c] / s);
  }
}
