/* kerf
target: cpu
*/
// Exploit: exits with code 0 before anything is compared. The import alone must be refused.
#include <cstdlib>
extern "C" void kerf_kernel(const float*, float*) { std::exit(0); }
