/* kerf
target: cpu
tune: TI = {16, 4, 8, 32, 64}
tune: TJ = {16, 4, 8, 32, 64}
tune: ALONG = {0, 1}
tune: OUTER = {0, 1}
*/
// Tiles of TI rows and TJ columns; ALONG = 1 writes along the result's rows, 0 reads along the input's; OUTER swaps the tile loops.
static inline void tile(const float* x, float* y, long i0, long j0) {
  const long i1 = i0 + TI < rows ? i0 + TI : rows, j1 = j0 + TJ < cols ? j0 + TJ : cols;
  if (ALONG) {
    for (long j = j0; j < j1; ++j)
      for (long i = i0; i < i1; ++i) y[j * rows + i] = x[i * cols + j];
  } else {
    for (long i = i0; i < i1; ++i)
      for (long j = j0; j < j1; ++j) y[j * rows + i] = x[i * cols + j];
  }
}

extern "C" void kerf_kernel(const float* x, float* y) {
  if (OUTER) {
    for (long j = 0; j < cols; j += TJ)
      for (long i = 0; i < rows; i += TI) tile(x, y, i, j);
  } else {
    for (long i = 0; i < rows; i += TI)
      for (long j = 0; j < cols; j += TJ) tile(x, y, i, j);
  }
}
