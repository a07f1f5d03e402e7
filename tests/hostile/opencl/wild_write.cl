/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: a wild pointer; only this candidate may suffer.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  *(volatile __global int*)(ulong)0x10 = 1;
  y[0] = x[0];
}
