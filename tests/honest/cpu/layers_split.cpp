/* kerf
target: cpu
*/
// Style: sums split in two halves with fused multiply-adds, as split-K kernels have them.
static void layer(const float* in, const float* w, float* out, int last) {
  float even[256] = {}, odd[256] = {};
  for (int p = 0; p < 256; p += 2)
    for (int j = 0; j < 256; ++j) {
      even[j] = __builtin_fmaf(in[p], w[p * 256 + j], even[j]);
      odd[j] = __builtin_fmaf(in[p + 1], w[(p + 1) * 256 + j], odd[j]);
    }
  for (int j = 0; j < 256; ++j) {
    const float sum = even[j] + odd[j];
    out[j] = last || sum > 0 ? sum : 0;
  }
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
