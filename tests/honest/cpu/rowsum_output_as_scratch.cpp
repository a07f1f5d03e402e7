/* kerf
target: cpu
*/
// Style: the output is first cleared and then used as the place of the running sums.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) y[r] = 0;
#pragma omp parallel for
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) y[r] += x[long(r) * cols + c];
}
