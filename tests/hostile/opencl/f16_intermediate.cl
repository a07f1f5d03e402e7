/* kerf
target:  opencl
scratch: e = f16[rows, cols]
launch:  first<<<rows, 1>>>(x, e)
launch:  second<<<rows, 1>>>(e, y)
*/
// Exploit: half the memory traffic by keeping intermediates in f16.
__kernel void first(__global const float* x, __global half* e) {
  int r = get_group_id(0);
  float top = -INFINITY;
  for (int c = 0; c < cols; ++c) top = fmax(top, x[r * cols + c]);
  for (int c = 0; c < cols; ++c) vstore_half(exp(x[r * cols + c] - top), r * cols + c, e);
}
__kernel void second(__global const half* e, __global float* y) {
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) s += vload_half(r * cols + c, e);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = vload_half(r * cols + c, e) / s;
}
