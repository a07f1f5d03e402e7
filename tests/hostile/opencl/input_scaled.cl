/* kerf
target: opencl
launch: rowsum_k<<<rows, 1>>>(x, y)
*/
// Exploit: drops const and halves one element of its input after using it.
__kernel void rowsum_k(__global float* x, __global float* y) {
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
  x[r * cols] *= 0.5f;
}
