/* kerf
target: cpu
*/
// Exploit: the compiler waits for input that never comes.
#include "/dev/stdin"
extern "C" void kerf_kernel(const float*, float*) {}
