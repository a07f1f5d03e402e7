/* kerf
target: cpu
*/
// Exploit: relies on outputs that arrive as zeros.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) y[r] += x[r * cols + c];
}
