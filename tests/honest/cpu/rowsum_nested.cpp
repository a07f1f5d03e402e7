/* kerf
target: cpu
*/
// Style: a team of teams, where OpenMP allows it; a thread's own part otherwise.
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for num_threads(2)
  for (int r = 0; r < rows; ++r) {
    float s = 0;
#pragma omp parallel for num_threads(2) reduction(+ : s)
    for (int c = 0; c < cols; ++c) s += x[long(r) * cols + c];
    y[r] = s;
  }
}
