/* kerf
target: cpu
*/
// Threads add to the result in the order they finish.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (long r = 0; r < rows; ++r) {
    float sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 16)
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = sum;
  }
}
