/* kerf
target: cpu
*/
// A fixed number of parts per row, combined in a fixed tree by any number of threads.
extern "C" void kerf_kernel(const float* x, float* y) {
  constexpr long parts = 8;
  static_assert(parts == 8);
  for (long r = 0; r < rows; ++r) {
    double part[parts];
#pragma omp parallel for
    for (long p = 0; p < parts; ++p) {
      double sum = 0;
      for (long c = p * cols / parts; c < (p + 1) * cols / parts; ++c) sum += x[r * cols + c];
      part[p] = sum;
    }
    y[r] = (float)(((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7])));
  }
}
