/* kerf
target: opencl
tune:   GROUP = {256, 64}
launch: gelu_k<<<(n + GROUP - 1) / GROUP, GROUP>>>(x, y)
*/
// Style: one work-item an element, guarded tail.
__kernel void gelu_k(__global const float* x, __global float* y) {
  size_t i = get_global_id(0);
  if (i >= n) return;
  y[i] = 0.5f * x[i] * (1.0f + erf(x[i] * 0.70710678118f));
}
