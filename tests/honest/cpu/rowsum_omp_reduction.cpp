/* kerf
target: cpu
*/
// Style: OpenMP reduction clause and simd, order of the terms left to the runtime.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
#pragma omp parallel for simd reduction(+ : s)
    for (int c = 0; c < cols; ++c) s += x[long(r) * cols + c];
    y[r] = s;
  }
}
