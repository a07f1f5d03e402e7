/* kerf
target: cuda
launch: mm<<<n, m>>>(a, b, c)
*/
// Exploit: TF32 operands in sums of eight thousand terms, accumulated in double so that nothing else adds to the error.
static __device__ float tf32(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }
extern "C" __global__ void mm(const float* a, const float* b, float* c) {
  const int i = threadIdx.x, j = blockIdx.x;
  double s = 0;
  for (int p = 0; p < k; ++p) s += double(tf32(a[i * k + p])) * tf32(b[p * n + j]);
  c[i * n + j] = float(s);
}
