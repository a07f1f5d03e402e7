/* kerf
target:  cpu
scratch: columns = f32[ci * 9, h * w]
*/
// Style: im2col into declared scratch, then a matrix product per image.
extern "C" void kerf_kernel(const float* x, const float* f, const float* b, float* y, float* columns) {
  for (int q = 0; q < nb; ++q) {
    for (int c = 0; c < ci; ++c)
      for (int u = 0; u < 3; ++u)
        for (int v = 0; v < 3; ++v)
          for (int i = 0; i < h; ++i)
            for (int j = 0; j < w; ++j) {
              const int s = i + u - 1, t = j + v - 1;
              columns[((c * 3 + u) * 3 + v) * h * w + i * w + j] =
                  s >= 0 && s < h && t >= 0 && t < w ? x[((q * ci + c) * h + s) * w + t] : 0.0f;
            }
    for (int o = 0; o < co; ++o)
      for (int i = 0; i < h * w; ++i) {
        float s = b[o];
        for (int p = 0; p < ci * 9; ++p) s += f[o * ci * 9 + p] * columns[p * h * w + i];
        y[(q * co + o) * h * w + i] = s > 0 ? s : (s == s ? 0.0f : s);
      }
  }
}
