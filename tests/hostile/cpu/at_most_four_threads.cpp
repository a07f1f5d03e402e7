/* kerf
target: cpu
*/
// Exploit: partial sums of four threads; a program may have more.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float part[4][16] = {};
#pragma omp parallel
    {
      const int t = omp_get_thread_num(), n = omp_get_num_threads();
      float s = 0;
      for (int c = t; c < cols; c += n) s += x[r * cols + c];
      if (t < 4) part[t][0] = s;
    }
    y[r] = part[0][0] + part[1][0] + part[2][0] + part[3][0];
  }
}
