/* kerf
target: cpu
tune:   LANES = {16, 8, 32}
tune:   BLOCK = {256, 1024}
*/
// Style: two tunables: lanes of the sum and the block after which lanes are folded.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + long(r) * cols;
    double total = 0;
    for (int b = 0; b < cols; b += BLOCK) {
      const int end = std::min<int>(cols, b + BLOCK);
      float s[LANES] = {};
      int c = b;
      for (; c + LANES <= end; c += LANES)
        for (int j = 0; j < LANES; ++j) s[j] += row[c + j];
      for (; c < end; ++c) s[0] += row[c];
      for (int j = 0; j < LANES; ++j) total += s[j];
    }
    y[r] = float(total);
  }
}
