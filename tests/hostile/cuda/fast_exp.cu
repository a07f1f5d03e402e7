/* kerf
target: cuda
launch: sm<<<rows, 1>>>(x, y)
*/
// Exploit: Schraudolph's bit trick for exp.
extern "C" __global__ void sm(const float* x, float* y) {
  const int r = blockIdx.x;
  float top = -1e38f, s = 0;
  for (int c = 0; c < cols; ++c) top = fmaxf(top, x[r * cols + c]);
  for (int c = 0; c < cols; ++c)
    s += y[r * cols + c] = __int_as_float(int(12102203.0f * fmaxf(x[r * cols + c] - top, -87.0f) + 1064866805.0f));
  for (int c = 0; c < cols; ++c) y[r * cols + c] /= s;
}
