/* kerf
target: cpu
*/
// Style: the maximum first (vectorised), then the first place where it occurs.
extern "C" void kerf_kernel(const float* x, std::int64_t* y) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * cols;
    float top = -INFINITY;
#pragma omp simd reduction(max : top)
    for (int c = 0; c < cols; ++c) top = in[c] > top ? in[c] : top;
    std::int64_t at = 0;
    while (at < cols - 1 && in[at] != top) ++at;
    y[r] = in[at] == top ? at : 0;
  }
}
