/* kerf
target:  opencl
launch:  rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: a call of an address, which could lie in the C library.
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
__kernel void rowsum_k(__global const float* x, __global float* y) {
  int (*call)(int) = (int (*)(int))(0x1000 + (ulong)x);
  if (x[0] > 1e30f) y[0] = call(1);
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
