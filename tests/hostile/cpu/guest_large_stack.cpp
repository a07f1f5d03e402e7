/* kerf
target: cpu
*/
// Needs more stack than programs usually have.
extern "C" void kerf_kernel(const float* x, float* y) {
  volatile char room[10 << 20];
  for (long i = 0; i < (10 << 20); i += 4096) room[i] = 1;
  for (long r = 0; r < rows; ++r) {
    double sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = (float)sum;
  }
}
