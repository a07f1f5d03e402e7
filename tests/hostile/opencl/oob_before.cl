/* kerf
target: opencl
launch: rowsum_k<<<rows, 1>>>(x, y)
*/
// Exploit: writes just below its output. The result is right, so only the red zone in front of the buffer can tell.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
  if (r == 0) y[-1] = 1.0f;
}
