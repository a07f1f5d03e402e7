/* kerf
target: opencl
launch: rowsum_k<<<rows, 1>>>(x, y)
*/
// Exploit: one write 1 MiB behind the output, to jump over a narrow red zone.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
  if (r == 0) y[rows + (1 << 18)] = 1.0f;
}
