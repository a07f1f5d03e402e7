/* kerf
target: cpu
*/
// Style: online softmax over eight lanes whose maxima start at the lowest number, so that no infinity meets another.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (int r = 0; r < rows; ++r) {
    const float* row = x + long(r) * cols;
    float top[8], s[8];
    for (int l = 0; l < 8; ++l) top[l] = -3.402823466e38f, s[l] = 0;
    for (int c = 0; c < cols; ++c) {
      const int l = c % 8;
      const float here = row[c] > top[l] ? row[c] : top[l];
      s[l] = s[l] * expf(top[l] - here) + expf(row[c] - here);
      top[l] = here;
    }
    float all = top[0], sum = 0;
    for (int l = 1; l < 8; ++l) all = top[l] > all ? top[l] : all;
    for (int l = 0; l < 8; ++l) sum += s[l] * expf(top[l] - all);
    for (int c = 0; c < cols; ++c) y[long(r) * cols + c] = expf(row[c] - all) / sum;
  }
}
