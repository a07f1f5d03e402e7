/* kerf
target:  opencl
scratch: copy = f32[rows, cols]
launch:  copy_k<<<ceil_div(rows * cols + 65536, 64), 64>>>(x, copy)
launch:  rowsum_k<<<rows, 1>>>(copy, y)
*/
// Style: a launch over many work-items and one over few, for which drivers generate different code.
__kernel void copy_k(__global const float* x, __global float* copy) {
  int i = get_global_id(0);
  if (i < rows * cols) copy[i] = x[i];
}
__kernel void rowsum_k(__global const float* copy, __global float* y) {
  int r = get_global_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) s += copy[r * cols + c];
  y[r] = s;
}
