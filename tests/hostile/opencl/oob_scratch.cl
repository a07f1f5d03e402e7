/* kerf
target:  opencl
scratch: partial = f32[rows]
launch:  first<<<rows, 1>>>(x, partial)
launch:  second<<<rows, 1>>>(partial, y)
*/
// Exploit: writes one element past a scratch buffer; the result is right.
__kernel void first(__global const float* x, __global float* partial) {
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  partial[r] = s;
  if (r == 0) partial[rows] = 1.0f;
}
__kernel void second(__global const float* partial, __global float* y) {
  y[get_group_id(0)] = partial[get_group_id(0)];
}
