/* kerf
target: cpu
*/
// Exploit: reads a file of the host. The imports alone must be refused.
#include <fstream>
#include <string>
extern "C" void kerf_kernel(const float* x, float* y) {
  std::ifstream file("/etc/passwd");
  std::string line;
  std::getline(file, line);
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
