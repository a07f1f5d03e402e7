/* kerf
target: cpu
*/
// Style: errors by exceptions, thrown and caught inside of the kernel.
#include <stdexcept>
#include <string>
static float part(const float* row, int begin, int end) {
  if (end > cols) throw std::out_of_range("the end of the row: " + std::string(1, 'x'));
  float s = 0;
  for (int c = begin; c < end; ++c) s += row[c];
  return s;
}
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; c += 64) {
      try {
        s += part(x + r * cols, c, c + 64);
      } catch (const std::out_of_range& error) {
        s += error.what() != nullptr ? part(x + r * cols, c, cols) : 0;
      }
    }
    y[r] = s;
  }
}
