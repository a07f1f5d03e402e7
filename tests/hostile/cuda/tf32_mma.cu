/* kerf
target: cuda
launch: mm<<<((n + 7) / 8, (m + 15) / 16), 32>>>(a, b, c)
*/
// Exploit: matrix units with ten bits of mantissa; TF32 is not f32.
static __device__ unsigned tf32(float v) {
  unsigned r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(v));
  return r;
}
extern "C" __global__ void mm(const float* a, const float* b, float* c) {
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const int row = blockIdx.y * 16, col = blockIdx.x * 8;
  float d[4] = {0, 0, 0, 0};
  for (int p = 0; p < k; p += 8) {
    auto at = [&](int i, int q) { return i < m && q < k ? a[i * k + q] : 0.0f; };
    auto bt = [&](int q, int j) { return q < k && j < n ? b[q * n + j] : 0.0f; };
    const unsigned a0 = tf32(at(row + g, p + t)), a1 = tf32(at(row + g + 8, p + t));
    const unsigned a2 = tf32(at(row + g, p + t + 4)), a3 = tf32(at(row + g + 8, p + t + 4));
    const unsigned b0 = tf32(bt(p + t, col + g)), b1 = tf32(bt(p + t + 4, col + g));
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  for (int e = 0; e < 4; ++e) {
    const int i = row + g + (e / 2) * 8, j = col + t * 2 + e % 2;
    if (i < m && j < n) c[i * n + j] = d[e];
  }
}
