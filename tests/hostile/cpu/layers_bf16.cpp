/* kerf
target: cpu
*/
// Exploit: bf16 operands in a stack of layers, whose worst-case bound is above what it loses.
static inline float reduced(float v) {
  std::uint32_t u;
  memcpy(&u, &v, 4);
  u = (u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000u;
  memcpy(&v, &u, 4);
  return v;
}
static void layer(const float* in, const float* w, float* out, int last) {
  float sum[256] = {};
  for (int p = 0; p < 256; ++p)
    for (int j = 0; j < 256; ++j) sum[j] += reduced(in[p]) * reduced(w[p * 256 + j]);
  for (int j = 0; j < 256; ++j) out[j] = last || sum[j] > 0 ? sum[j] : 0;
}
extern "C" void kerf_kernel(const float* x, const float* w1, const float* w2, const float* w3, const float* w4, float* y) {
  float ping[256], pong[256];
  const float* weights[] = {w1, w2, w3, w4};
  for (int r = 0; r < rows; ++r) {
    const float* in = x + r * 256;
    for (int l = 0; l < 4; ++l) {
      float* out = l == 3 ? y + r * 256 : (l % 2 ? pong : ping);
      layer(in, weights[l], out, l == 3);
      in = out;
    }
  }
}
