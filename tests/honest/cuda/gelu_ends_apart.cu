/* kerf
target: cuda
launch: gelu<<<ceil_div(n, 256), 256>>>(x, y)
*/
// Style: both ends have a formula of their own: x itself above 10, and a plain 0 far below, where the reference has an
// infinity times 0.
extern "C" __global__ void gelu(const float* x, float* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const float v = x[i];
  y[i] = v > 10.0f ? v : v < -40.0f ? -0.0f : 0.5f * v * (1.0f + erff(v * 0.70710678118f));
}
