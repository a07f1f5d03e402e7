/* kerf
target:  opencl
launch:  rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: looks at who called it, as a way to the driver's memory.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  if (__builtin_return_address(0) == 0) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
