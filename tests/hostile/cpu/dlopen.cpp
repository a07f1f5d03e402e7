/* kerf
target: cpu
*/
// Exploit: reaches every function of every library through dlsym. The imports alone must be refused.
#include <dlfcn.h>
extern "C" void kerf_kernel(const float* x, float* y) {
  void* self = dlopen(nullptr, RTLD_NOW);
  auto* find = reinterpret_cast<int (*)(const char*)>(dlsym(self, "system"));
  find("true");
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
