/* kerf
target: opencl
launch: normalise<<<rows, 1>>>(y, w, x)
*/
// Exploit: the launch line hands the input to the kernel's output parameter.
__kernel void normalise(__global const float* x, __global const float* w, __global float* y) {
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c] * x[r * cols + c];
  float scale = rsqrt(s / cols + 1e-6f);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = x[r * cols + c] * scale * w[c];
}
