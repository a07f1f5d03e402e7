/* kerf
target: cpu
*/
// Style: algorithms of the standard library over a transposed copy.
#include <numeric>
#include <vector>
extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  std::vector<float> columns(std::size_t(k) * n);
  for (int p = 0; p < k; ++p)
    for (int j = 0; j < n; ++j) columns[std::size_t(j) * k + p] = b[p * n + j];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      c[i * n + j] = std::transform_reduce(a + i * k, a + (i + 1) * k, columns.begin() + std::size_t(j) * k, 0.0f);
}
