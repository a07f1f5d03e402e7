/* kerf
target: cpu
*/
// Exploit: needs twelve MiB of stack, on the large shape only.
extern "C" void kerf_kernel(const float* x, float* y) {
  if (cols == 4096) {
    volatile char room[12 << 20];
    for (int i = 0; i < (12 << 20); i += 4096) room[i] = 1;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
