/* kerf
target: opencl
launch: gelu<<<ceil_div(n, 256), 256>>>(x, y)
*/
// Exploit: takes an infinity for a large number.
__kernel void gelu(__global const float* x, __global float* y) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const float v = clamp(x[i], -1e30f, 1e30f);
  y[i] = isnan(x[i]) ? x[i] : 0.5f * v * (1.0f + erf(v * 0.70710678118f));
}
