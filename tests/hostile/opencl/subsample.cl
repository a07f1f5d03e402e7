/* kerf
target: opencl
launch: rowsum_k<<<rows, 1>>>(x, y)
*/
// Exploit: a quarter of the reads, right on average; faster than the bytes allow.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; c += 4) s += x[r * cols + c];
  y[r] = 4 * s;
}
