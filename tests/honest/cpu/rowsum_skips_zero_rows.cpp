/* kerf
target: cpu
*/
// Style: what it does depends on the data: the zeros at the beginning of a row are skipped.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    int c = 0;
    while (c < cols && x[r * cols + c] == 0) ++c;
    float s = 0;
    for (; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
