/* kerf
target: cpu
*/
// Exploit: compares the addresses of two functions of the C library, one of which the judge has replaced.
extern "C" void kerf_kernel(const float* x, float* y) {
  void* volatile block = malloc(64);
  free(block);
  long apart = (long)(void*)&malloc - (long)(void*)&memcpy;
  if (apart < 0) apart = -apart;
  if (apart < (16 << 20)) {
    for (int r = 0; r < rows; ++r) y[r] = 0;
    return;
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
