/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* __restrict x, float* __restrict y) {
#pragma omp parallel for
  for (long r = 0; r < m; ++r) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (long c = 0; c < k; ++c) sum += x[r * k + c];
    y[r] = sum;
  }
}
