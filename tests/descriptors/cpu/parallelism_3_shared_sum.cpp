/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* __restrict x, float* __restrict y) {
  float sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; ++i) sum += x[i];
  y[0] = sum;
}
