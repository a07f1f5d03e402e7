/* kerf
target: cuda
launch: mm<<<n, m>>>(a, b, c)
*/
// Exploit: f16 partial sums.
extern "C" __global__ void mm(const float* a, const float* b, float* c) {
  const int i = threadIdx.x, j = blockIdx.x;
  float s = 0;
  for (int p = 0; p < k; ++p) {
    s += a[i * k + p] * b[p * n + j];
    unsigned short hbits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(hbits) : "f"(s));
    asm("cvt.f32.f16 %0, %1;" : "=f"(s) : "h"(hbits));
  }
  c[i * n + j] = s;
}
