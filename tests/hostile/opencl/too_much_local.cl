/* kerf
target: opencl
launch: rowsum_k<<<rows, 1>>>(x, y)
*/
// Exploit: a launch the device must refuse.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  __local float room[1 << 28];
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) {
    room[(c * 65537) & ((1 << 28) - 1)] = x[r * cols + c];
    s += room[(c * 65537) & ((1 << 28) - 1)];
  }
  y[r] = s;
}
