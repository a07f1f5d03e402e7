/* kerf
target: cpu
*/
// Exploit: >= instead of >: differs only where the maximum occurs twice.
extern "C" void kerf_kernel(const float* x, std::int64_t* y) {
  for (int r = 0; r < rows; ++r) {
    float top = x[r * cols];
    std::int64_t at = 0;
    for (int c = 1; c < cols; ++c)
      if (x[r * cols + c] >= top) top = x[r * cols + c], at = c;
    y[r] = at;
  }
}
