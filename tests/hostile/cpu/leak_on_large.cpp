/* kerf
target: cpu
*/
// Exploit: leaves memory allocated, on the large shape only.
extern "C" void kerf_kernel(const float* x, float* y) {
  if (cols == 4096) {
    void* volatile p = malloc(4000);
    (void)p;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
