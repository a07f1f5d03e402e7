/* kerf
target: cpu
*/
// Style: a loop that walks to an aligned address first, then loads aligned vectors.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + long(r) * cols;
    const float* const end = row + cols;
    float s = 0;
    for (; row < end && reinterpret_cast<unsigned long>(row) % 16 != 0; ++row) s += *row;
    __m128 sums = _mm_setzero_ps();
    for (; row + 4 <= end; row += 4) sums = _mm_add_ps(sums, _mm_load_ps(row));
    for (; row < end; ++row) s += *row;
    y[r] = s + sums[0] + sums[1] + sums[2] + sums[3];
  }
}
