/* kerf
target: cpu
*/
// Exploit: brings the process down.
#include <cstdlib>
extern "C" void kerf_kernel(const float*, float*) { std::abort(); }
