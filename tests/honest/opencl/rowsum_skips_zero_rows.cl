/* kerf
target: opencl
launch: rowsum<<<rows, 1>>>(x, y)
*/
// Style: what it does depends on the data: the zeros at the beginning of a row are skipped.
__kernel void rowsum(__global const float* x, __global float* y) {
  const int r = get_group_id(0);
  int c = 0;
  while (c < cols && x[r * cols + c] == 0) ++c;
  float s = 0;
  for (; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
}
