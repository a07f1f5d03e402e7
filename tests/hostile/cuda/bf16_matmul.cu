/* kerf
target: cuda
launch: mm<<<n, m>>>(a, b, c)
*/
// Exploit: bf16 operands where f32 is asked for.
static __device__ float bf16(float v) {
  const unsigned u = __float_as_uint(v);
  return __uint_as_float((u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u);
}
extern "C" __global__ void mm(const float* a, const float* b, float* c) {
  const int i = threadIdx.x, j = blockIdx.x;
  float s = 0;
  for (int p = 0; p < k; ++p) s += bf16(a[i * k + p]) * bf16(b[p * n + j]);
  c[i * n + j] = s;
}
