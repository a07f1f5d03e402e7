/* kerf
target: cpu
*/
// Style: ordered and unordered maps.
#include <map>
#include <unordered_map>
extern "C" void kerf_kernel(const float* x, long long* y) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    std::map<float, int, std::greater<float>> first;
    std::unordered_map<int, int> special;
    for (int c = 0; c < cols; ++c) {
      if (row[c] != row[c]) special.emplace(0, c);
      else first.emplace(row[c], c);
    }
    y[r] = special.count(0) ? special[0] : first.begin()->second;
  }
}
