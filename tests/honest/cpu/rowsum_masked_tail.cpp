/* kerf
target: cpu
*/
#include <immintrin.h>
// Style: vectors of eight with a masked load at the end, whose address range goes beyond the buffer, but whose loads do not.
extern "C" void kerf_kernel(const float* x, float* y) {
  alignas(32) int lanes[8];
  for (int k = 0; k < 8; ++k) lanes[k] = k < cols % 8 ? -1 : 0;
  const __m256i mask = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes));
  for (int r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    __m256 sum = _mm256_setzero_ps();
    int c = 0;
    for (; c + 8 <= cols; c += 8) sum = _mm256_add_ps(sum, _mm256_loadu_ps(row + c));
    sum = _mm256_add_ps(sum, _mm256_maskload_ps(row + c, mask));
    alignas(32) float part[8];
    _mm256_store_ps(part, sum);
    y[r] = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
  }
}
