/* kerf
target: cpu
*/
// Style: recursive pairwise sum.
static float sum(const float* v, long count) {
  if (count <= 32) {
    float s = 0;
    for (long i = 0; i < count; ++i) s += v[i];
    return s;
  }
  return sum(v, count / 2) + sum(v + count / 2, count - count / 2);
}
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) y[r] = sum(x + long(r) * cols, cols);
}
