/* kerf
target: cpu
*/
// Exploit: vectorised by four without a tail.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s[4] = {};
    for (int c = 0; c + 4 <= cols; c += 4)
      for (int j = 0; j < 4; ++j) s[j] += x[r * cols + c + j];
    y[r] = s[0] + s[1] + s[2] + s[3];
  }
}
