/* kerf
target: cpu
*/
// Exploit: floods the log of the judge. The import alone must be refused.
#include <cstdio>
extern "C" void kerf_kernel(const float*, float*) {
  for (;;) printf("%0100d\n", 0);
}
