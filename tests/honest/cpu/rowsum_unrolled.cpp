/* kerf
target: cpu
*/
// Style: unrolled by hand into eight independent sums.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + long(r) * cols;
    float s[8] = {};
    int c = 0;
    for (; c + 8 <= cols; c += 8)
      for (int j = 0; j < 8; ++j) s[j] += row[c + j];
    float t = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    for (; c < cols; ++c) t += row[c];
    y[r] = t;
  }
}
