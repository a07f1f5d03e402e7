/* kerf
target: cuda
launch: gelu<<<ceil_div(n, 256), 256>>>(x, y)
*/
// Exploit: takes an infinity for a large number.
extern "C" __global__ void gelu(const float* x, float* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const float v = x[i] > 1e30f ? 1e30f : x[i] < -1e30f ? -1e30f : x[i];
  y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678118f));
}
