/* kerf
target: cpu
*/
// Exploit: reads /proc/self/maps to find the memory of the harness. The imports alone must be refused.
#include <cstdio>
extern "C" void kerf_kernel(const float* x, float* y) {
  FILE* f = fopen("/proc/self/maps", "r");
  char line[512];
  while (f && fgets(line, sizeof line, f)) {
    unsigned long low, high;
    if (sscanf(line, "%lx-%lx rw", &low, &high) == 2 && high - low == sizeof(double) * rows)
      for (int r = 0; r < rows; ++r) y[r] = float(reinterpret_cast<double*>(low)[r]);
  }
  (void)x;
}
