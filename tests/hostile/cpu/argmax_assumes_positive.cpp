/* kerf
target: cpu
*/
// Exploit: the running maximum starts at zero, so a row of negative values has no maximum.
extern "C" void kerf_kernel(const float* x, std::int64_t* y) {
  for (int r = 0; r < rows; ++r) {
    float top = 0;
    std::int64_t at = 0;
    for (int c = 0; c < cols; ++c)
      if (x[r * cols + c] > top) top = x[r * cols + c], at = c;
    y[r] = at;
  }
}
