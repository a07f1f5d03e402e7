/* kerf
target: cuda
launch: gelu_k<<<(n + 255) / 256, 256>>>(x, y)
*/
// Exploit: another function (the tanh form), evaluated by the approximate instruction.
extern "C" __global__ void gelu_k(const float* x, float* y) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  float t;
  asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(0.79788456f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
  y[i] = 0.5f * x[i] * (1 + t);
}
