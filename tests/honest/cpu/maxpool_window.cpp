/* kerf
target: cpu
*/
// Style: windows clipped at the borders, no padding values.
extern "C" void kerf_kernel(const float* x, float* y) {
  constexpr int oh = (h + 2 - 3) / 2 + 1, ow = (w + 2 - 3) / 2 + 1;
#pragma omp parallel for collapse(2)
  for (int p = 0; p < planes; ++p)
    for (int i = 0; i < oh; ++i)
      for (int j = 0; j < ow; ++j) {
        float top = -INFINITY;
        for (int u = std::max(0, 2 * i - 1); u < std::min<int>(h, 2 * i + 2); ++u)
          for (int v = std::max(0, 2 * j - 1); v < std::min<int>(w, 2 * j + 2); ++v)
            top = std::max(top, x[(p * h + u) * w + v]);
        y[(p * oh + i) * ow + j] = top;
      }
}
