/* kerf
target: cpu
*/
// Exploit: the compiler's error messages would show the file.
#include "/etc/passwd"
extern "C" void kerf_kernel(const float*, float*) {}
