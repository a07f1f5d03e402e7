/* kerf
target: cpu
*/
// Exploit: leaves one term in 256 out of every sum, far within the worst-case bound of eight layers.
static void layer(const float* in, const float* w, float* out, int last) {
  float sum[256] = {};
  for (int p = 0; p < 255; ++p)
    for (int j = 0; j < 256; ++j) sum[j] += in[p] * w[p * 256 + j];
  for (int j = 0; j < 256; ++j) out[j] = last || sum[j] > 0 ? sum[j] : 0;
}
extern "C" void kerf_kernel(const float* x, const float* w1, const float* w2, const float* w3, const float* w4, const float* w5, const float* w6, const float* w7, const float* w8, float* y) {
  float ping[256], pong[256];
  const float* weights[] = {w1, w2, w3, w4, w5, w6, w7, w8};
  for (int r = 0; r < rows; ++r) {
    const float* in = x + r * 256;
    for (int l = 0; l < 8; ++l) {
      float* out = l == 7 ? y + r * 256 : (l % 2 ? pong : ping);
      layer(in, weights[l], out, l == 7);
      in = out;
    }
  }
}
