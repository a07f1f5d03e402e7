/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: does nothing; passes wherever the output memory still holds an earlier result.
__kernel void rowsum_k(__global const float* x, __global float* y) {}
