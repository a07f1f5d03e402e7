/* kerf
target: cpu
*/
// Columns first, then rows: 10 additions an element instead of 25.
#include <algorithm>
#include <vector>

extern "C" void kerf_kernel(const float* image, float* blurred) {
#pragma omp parallel
  {
    std::vector<float> sums(width + 4);
#pragma omp for
    for (long long y = 0; y < height; ++y) {
      const float* rows[5];
      for (long long d = 0; d < 5; ++d) {
        const long long clamped = std::clamp<long long>(y + d - 2, 0, static_cast<long long>(height) - 1);
        rows[d] = image + clamped * width;
      }
      for (long long x = 0; x < width; ++x)
        sums[x + 2] = (rows[0][x] + rows[1][x]) + (rows[2][x] + rows[3][x]) + rows[4][x];
      sums[0] = sums[1] = sums[2];
      sums[width + 2] = sums[width + 3] = sums[width + 1];
      float* out = blurred + y * width;
      for (long long x = 0; x < width; ++x)
        out[x] = ((sums[x] + sums[x + 1]) + (sums[x + 2] + sums[x + 3]) + sums[x + 4]) * (1.0f / 25.0f);
    }
  }
}
