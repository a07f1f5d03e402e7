/* kerf
target: opencl
launch: sum<<<rows, 1>>>(x, y)
*/
__kernel void sum(__global const float* x, __global float* y) { y[0] = z[0]; }
