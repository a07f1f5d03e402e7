/* kerf
target: opencl
launch: gelu<<<ceil_div(n, 256), 256>>>(x, y)
*/
// Style: both ends have a formula of their own: x itself above 10, and a plain 0 far below, where the reference has an
// infinity times 0.
__kernel void gelu(__global const float* x, __global float* y) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const float v = x[i];
  y[i] = v > 10.0f ? v : v < -40.0f ? -0.0f : 0.5f * v * (1.0f + erf(v * 0.70710678118f));
}
