/* kerf
target: cpu
*/
// Style: direct convolution, bias added last, taps outside of the image skipped.
extern "C" void kerf_kernel(const float* x, const float* f, const float* b, float* y) {
#pragma omp parallel for collapse(2)
  for (int q = 0; q < nb; ++q)
    for (int o = 0; o < co; ++o)
      for (int i = 0; i < h; ++i)
        for (int j = 0; j < w; ++j) {
          float s = 0;
          for (int c = 0; c < ci; ++c)
            for (int u = std::max(0, 1 - i); u < std::min<int>(3, h + 1 - i); ++u)
              for (int v = std::max(0, 1 - j); v < std::min<int>(3, w + 1 - j); ++v)
                s += x[((q * ci + c) * h + i + u - 1) * w + j + v - 1] * f[((o * ci + c) * 3 + u) * 3 + v];
          s += b[o];
          y[((q * co + o) * h + i) * w + j] = s > 0 ? s : (s == s ? 0.0f : s);
        }
}
