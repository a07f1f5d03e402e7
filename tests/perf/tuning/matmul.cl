/* kerf
target: opencl
tune: BM = {32, 16, 64}
tune: BN = {32, 16, 64}
tune: BK = {16, 8, 32}
tune: TM = {4, 2, 8}
tune: TN = {4, 2, 8}
require: (BM / TM) * (BN / TN) <= 256
require: (BM / TM) * (BN / TN) >= 8
launch: mm<<<ceil_div(m, BM) * ceil_div(n, BN), (BM / TM) * (BN / TN)>>>(a, b, c)
*/
// Tiles of both operands in local memory, TM x TN results per work item in registers.
__kernel void mm(__global const float* a, __global const float* b, __global float* c) {
  enum { COLUMNS = BN / TN, ITEMS = (BM / TM) * (BN / TN) };
  __local float left[BK][BM], right[BK][BN];
  const int tiles = (n + BN - 1) / BN;
  const int i0 = (int)get_group_id(0) / tiles * BM, j0 = (int)get_group_id(0) % tiles * BN;
  const int id = get_local_id(0), row = id / COLUMNS * TM, column = id % COLUMNS * TN;
  float sum[TM][TN];
  for (int r = 0; r < TM; ++r)
    for (int s = 0; s < TN; ++s) sum[r][s] = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    for (int e = id; e < BM * BK; e += ITEMS) {
      const int r = e / BK, p = e % BK;
      left[p][r] = i0 + r < m && k0 + p < k ? a[(i0 + r) * k + k0 + p] : 0.0f;
    }
    for (int e = id; e < BN * BK; e += ITEMS) {
      const int p = e / BN, s = e % BN;
      right[p][s] = j0 + s < n && k0 + p < k ? b[(k0 + p) * n + j0 + s] : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < BK; ++p)
      for (int r = 0; r < TM; ++r)
        for (int s = 0; s < TN; ++s) sum[r][s] += left[p][row + r] * right[p][column + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int r = 0; r < TM; ++r)
    for (int s = 0; s < TN; ++s)
      if (i0 + row + r < m && j0 + column + s < n) c[(i0 + row + r) * n + j0 + column + s] = sum[r][s];
}
