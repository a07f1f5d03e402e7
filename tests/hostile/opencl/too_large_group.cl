/* kerf
target: opencl
launch: rowsum_k<<<rows, 1048576>>>(x, y)
*/
// Exploit: a launch the device must refuse; a refused launch must not count as a fast one.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  if (get_local_id(0) != 0) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
}
