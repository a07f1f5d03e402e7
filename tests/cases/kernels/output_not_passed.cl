/* kerf
target:  opencl
scratch: t = f32[rows]
launch:  row_sum<<<rows, 1>>>(x, t)
*/
__kernel void row_sum(__global const float* x, __global float* t) { t[get_group_id(0)] = x[0]; }
