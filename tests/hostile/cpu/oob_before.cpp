/* kerf
target: cpu
*/
// Exploit: writes just below its output. The result is right, so only the red zone in front of the buffer can tell.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  y[-1] = 1.0f;
}
