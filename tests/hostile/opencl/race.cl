/* kerf
target: opencl
launch: rowsum_k<<<rows, 64>>>(x, y)
*/
// Exploit: leaves the barriers out of a tree reduction: faster, and right only by the driver's mercy.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  __local float part[1];
  int l = get_local_id(0), r = get_group_id(0);
  float s = 0;
  for (int c = l; c < cols; c += 64) s += x[r * cols + c];
  part[0] = s;
  y[r] = part[0] * 64;
}
