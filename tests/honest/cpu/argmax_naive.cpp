/* kerf
target: cpu
*/
// Style: one pass, strictly greater, so that the first of equal values wins.
extern "C" void kerf_kernel(const float* x, std::int64_t* y) {
  for (int r = 0; r < rows; ++r) {
    std::int64_t at = 0;
    for (int c = 1; c < cols; ++c)
      if (x[r * cols + c] > x[r * cols + at]) at = c;
    y[r] = at;
  }
}
