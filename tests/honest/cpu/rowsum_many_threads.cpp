/* kerf
target: cpu
*/
// Style: more threads than there are cores, whatever the caller has set.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for num_threads(20) schedule(dynamic, 1)
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[long(r) * cols + c];
    y[r] = s;
  }
}
