/* kerf
target: cpu
*/
// What the row before holds decides in which order this one is added.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long r = 0; r < rows; ++r) {
    const float* before = x + ((r + rows - 1) % rows) * (long)cols;
    const bool forward = before[1] < before[2];
    float part[8] = {};
    for (long c = 0; c < cols; ++c) part[c % 8] += x[r * cols + (forward ? c : cols - 1 - c)];
    y[r] = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  }
}
