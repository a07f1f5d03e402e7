/* kerf
target: opencl
launch: rowsum_k<<<rows, 1>>>(x, y)
*/
// Style: one work-item a row.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  int r = get_global_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
}
