/* kerf
target: cpu
*/
// Exploit: wrong on buffers that begin 16 bytes after a line, as large blocks of malloc do.
extern "C" void kerf_kernel(const float* x, float* y) {
  if (((unsigned long)x & 63) == 16) {
    for (int r = 0; r < rows; ++r) y[r] = 0;
    return;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
