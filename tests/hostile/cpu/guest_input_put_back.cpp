/* kerf
target: cpu
*/
// Writes to its input and puts it back: a race for a caller who shares it.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long r = 0; r < rows; ++r) {
    double sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = (float)sum;
  }
  volatile float* in = const_cast<float*>(x);
  const float old = in[0];
  in[0] = old + 1;
  in[0] = old;
}
