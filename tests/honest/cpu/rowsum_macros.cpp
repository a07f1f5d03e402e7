/* kerf
target: cpu
*/
#include <array>
#include <numeric>
// Style: a text with macros, templates and a table that the compiler makes.
#define FOR_EACH(index, count) for (int index = 0; index < (count); ++index)
template <int width>
constexpr std::array<int, width> places() {
  std::array<int, width> all{};
  FOR_EACH(k, width) all[static_cast<std::size_t>(k)] = (k * 5) % width;
  return all;
}
extern "C" void kerf_kernel(const float* x, float* y) {
  static constexpr auto kPlaces = places<16>();
  FOR_EACH(r, rows) {
    std::array<float, 16> part{};
    FOR_EACH(c, cols) part[static_cast<std::size_t>(kPlaces[static_cast<std::size_t>(c % 16)])] += x[r * cols + c];
    y[r] = std::accumulate(part.begin(), part.end(), 0.0f);
  }
}
