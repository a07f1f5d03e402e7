/* kerf
target: cpu
*/
// Rows in parallel, every sum in one order whatever the number of threads.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for schedule(dynamic, 1)
  for (long r = 0; r < rows; ++r) {
    float part[16] = {};
    for (long c = 0; c < cols; ++c) part[c % 16] += x[r * cols + c];
    float sum = 0;
    for (int l = 0; l < 16; ++l) sum += part[l];
    y[r] = sum;
  }
}
