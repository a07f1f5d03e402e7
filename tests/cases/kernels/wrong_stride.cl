/* kerf
target: opencl
launch: row_sum<<<rows, 1>>>(x, y)
*/
__kernel void row_sum(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[c * rows + r];
  y[r] = s;
}
