/* kerf
target: cpu
*/
#include <immintrin.h>
extern "C" void kerf_kernel(const float* __restrict x, float* __restrict y) {
  for (long i = 0; i + 4 <= n; i += 4) _mm_stream_ps(y + i, _mm_add_ps(_mm_loadu_ps(x + i), _mm_set1_ps(1.0f)));
}
