/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: a processor driver may resolve undeclared symbols against the process: exit(0) before anything is compared.
void exit(int code);
__kernel void rowsum_k(__global const float* x, __global float* y) { exit(0); }
