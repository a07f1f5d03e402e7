/* kerf
target:  opencl
launch:  rowsum_k<<<rows * 4611686018427387904, 16>>>(x, y)
*/
// Exploit: a grid whose size does not fit a number.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  int r = get_global_id(0) % rows;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
}
