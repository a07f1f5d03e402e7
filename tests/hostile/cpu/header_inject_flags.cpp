/* kerf
target: cpu
flags:  -ffast-math -fplugin=/tmp/evil.so
*/
// Exploit: a header key that does not exist, in case it reaches the compiler's command line.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
