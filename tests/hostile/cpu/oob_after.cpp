/* kerf
target: cpu
*/
// Exploit: writes just above its output. The result is right, so only the red zone behind the buffer can tell.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  y[rows] = 1.0f;
}
