/* kerf
target: cuda
tune:   BLOCK = {256, 128}
launch: gelu_k<<<(n / 4 + BLOCK) / BLOCK, BLOCK>>>(x, y)
*/
// Style: float4 loads and stores (buffers are aligned), the last elements by one thread each.
static __device__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678118f)); }
extern "C" __global__ void gelu_k(const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n / 4) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<float4*>(y)[i] = make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
  } else if (i == n / 4) {
    for (int j = i * 4; j < n; ++j) y[j] = gelu(x[j]);
  }
}
