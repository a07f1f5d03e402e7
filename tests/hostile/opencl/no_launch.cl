/* kerf
target: opencl
*/
// Exploit: none; a header without a launch must be refused as data, not end the whole evaluation.
__kernel void rowsum(__global const float* x, __global float* y) { y[get_global_id(0)] = x[get_global_id(0)]; }
