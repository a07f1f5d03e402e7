/* kerf
target: cpu
*/
// Style: sums inside blocks of sixteen first, then the carry added.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * cols;
    float* out = y + long(r) * cols;
    float carry = 0;
    for (int b = 0; b < cols; b += 16) {
      const int end = std::min<int>(cols, b + 16);
      float s = 0;
      for (int c = b; c < end; ++c) out[c] = s += in[c];
      for (int c = b; c < end; ++c) out[c] += carry;
      carry = out[end - 1];
    }
  }
}
