/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* __restrict x, float* __restrict y) {
  for (long r = 0; r < m; ++r) {
    float mean = 0, squares = 0;
    for (long c = 0; c < k; ++c) {
      const float d = x[r * k + c] - mean;
      mean += d / static_cast<float>(c + 1);
      squares += d * (x[r * k + c] - mean);
    }
    y[r] = squares / k;
  }
}
