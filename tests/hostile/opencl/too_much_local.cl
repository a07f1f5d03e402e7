/* kerf
target: opencl
launch: rowsum_k<<<rows, 1>>>(x, y)
*/
// Exploit: a launch the device must refuse.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  __local volatile float room[1L << 38];
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) {
    room[(c * 65537L) & ((1L << 38) - 1)] = x[r * cols + c];
    s += room[(c * 65537L) & ((1L << 38) - 1)];
  }
  y[r] = s;
}
