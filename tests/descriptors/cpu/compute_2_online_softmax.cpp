/* kerf
target: cpu
*/
#include <cmath>
extern "C" void kerf_kernel(const float* __restrict x, float* __restrict y) {
  for (long r = 0; r < m; ++r) {
    float top = -INFINITY, sum = 0;
    for (long c = 0; c < k; ++c) {
      const float next = x[r * k + c] > top ? x[r * k + c] : top;
      sum = sum * expf(top - next) + expf(x[r * k + c] - next);
      top = next;
    }
    y[r] = top + logf(sum);
  }
}
