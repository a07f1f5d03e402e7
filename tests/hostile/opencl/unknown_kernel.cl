/* kerf
target: opencl
launch: missing<<<rows, 1>>>(x, y)
*/
// Exploit: a launch that cannot happen must not count as a fast one.
__kernel void rowsum_k(__global const float* x, __global float* y) { y[get_group_id(0)] = x[0]; }
