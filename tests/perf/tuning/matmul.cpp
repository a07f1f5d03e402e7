/* kerf
target: cpu
tune: MR = {4, 1, 2, 6, 8}
tune: NV = {2, 1, 3, 4}
tune: W = {8, 4, 16}
tune: KB = {256, 16, 64, 128}
*/
// A block of MR rows times NV vectors of W columns stays in registers while KB steps of the inner axis go by.
typedef float vec __attribute__((vector_size(4 * W), aligned(4)));
constexpr long NR = NV * W;

static void whole_block(const float* a, const float* b, float* c, long k0, long k1) {
  vec sum[MR][NV];
  for (long i = 0; i < MR; ++i)
    for (long j = 0; j < NV; ++j) sum[i][j] = k0 == 0 ? vec{} : *(const vec*)(c + i * n + j * W);
  for (long p = k0; p < k1; ++p) {
    vec column[NV];
    for (long j = 0; j < NV; ++j) column[j] = *(const vec*)(b + p * n + j * W);
    for (long i = 0; i < MR; ++i)
      for (long j = 0; j < NV; ++j) sum[i][j] += a[i * k + p] * column[j];
  }
  for (long i = 0; i < MR; ++i)
    for (long j = 0; j < NV; ++j) *(vec*)(c + i * n + j * W) = sum[i][j];
}

static void edge(const float* a, const float* b, float* c, long rows, long columns, long k0, long k1) {
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < columns; ++j) {
      float sum = k0 == 0 ? 0.0f : c[i * n + j];
      for (long p = k0; p < k1; ++p) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
}

extern "C" void kerf_kernel(const float* a, const float* b, float* c) {
  for (long k0 = 0; k0 < k; k0 += KB) {
    const long k1 = k0 + KB < k ? k0 + KB : k;
    for (long j = 0; j < n; j += NR)
      for (long i = 0; i < m; i += MR) {
        const long rows = m - i < MR ? m - i : MR, columns = n - j < NR ? n - j : NR;
        if (rows == MR && columns == NR)
          whole_block(a + i * k, b + j, c + i * n + j, k0, k1);
        else
          edge(a + i * k, b + j, c + i * n + j, rows, columns, k0, k1);
      }
  }
}
