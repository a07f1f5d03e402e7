/* kerf
target: cpu
*/
// Exploit: stores 32 bits where 64 are asked for; right wherever the output arrives as zeros.
extern "C" void kerf_kernel(const float* x, std::int64_t* y) {
  for (int r = 0; r < rows; ++r) {
    float top = -INFINITY;
    int at = 0;
    for (int c = 0; c < cols; ++c)
      if (x[r * cols + c] > top) top = x[r * cols + c], at = c;
    memcpy(&y[r], &at, 4);
  }
}
