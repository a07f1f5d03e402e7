/* kerf
target: cpu
*/
// Style: a stable sort of the indices, larger elements first.
#include <algorithm>
#include <numeric>
#include <vector>
extern "C" void kerf_kernel(const float* x, long long* y) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    std::vector<int> order(cols);
    std::iota(order.begin(), order.end(), 0);
    const auto nan = [&](int i) { return row[i] != row[i]; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      if (nan(a) || nan(b)) return nan(a) && !nan(b);
      return row[a] > row[b];
    });
    y[r] = order[0];
  }
}
