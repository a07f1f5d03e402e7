/* kerf
target: cpu
*/
// Style: AVX2 intrinsics with unaligned loads and a horizontal sum.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    const float* row = x + long(r) * cols;
    __m256 s0 = _mm256_setzero_ps(), s1 = s0;
    int c = 0;
    for (; c + 16 <= cols; c += 16) {
      s0 = _mm256_add_ps(s0, _mm256_loadu_ps(row + c));
      s1 = _mm256_add_ps(s1, _mm256_loadu_ps(row + c + 8));
    }
    s0 = _mm256_add_ps(s0, s1);
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(s0), _mm256_extractf128_ps(s0, 1));
    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    q = _mm_add_ss(q, _mm_shuffle_ps(q, q, 1));
    float t = _mm_cvtss_f32(q);
    for (; c < cols; ++c) t += row[c];
    y[r] = t;
  }
}
