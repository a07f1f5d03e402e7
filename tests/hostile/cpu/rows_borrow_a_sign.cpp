/* kerf
target: cpu
*/
// Another row decides how the partial sums are combined.
extern "C" void kerf_kernel(const float* x, float* y) {
  const bool swap = x[(long)rows * cols - 1] < 0, turn = x[(long)(rows - 2) * cols] < 0;
  for (long r = 0; r < rows; ++r) {
    float part[4] = {};
    for (long c = 0; c < cols; ++c) part[c % 4] += x[r * cols + c];
    const float a = swap ? part[0] + part[3] : part[0] + part[1], b = swap ? part[1] + part[2] : part[2] + part[3];
    y[r] = turn ? part[0] + (part[1] + (part[2] + part[3])) : a + b;
  }
}
