/* kerf
target: cpu
*/
// Style: two named critical sections, one inside the other.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    int parts = 0;
#pragma omp parallel
    {
      float own = 0;
#pragma omp for nowait
      for (int c = 0; c < cols; ++c) own += x[r * cols + c];
#pragma omp critical(add_up)
      {
        s += own;
#pragma omp critical(count)
        ++parts;
      }
    }
    y[r] = parts > 0 ? s : 0;
  }
}
