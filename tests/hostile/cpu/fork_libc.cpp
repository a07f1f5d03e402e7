/* kerf
target: cpu
*/
// Exploit: hands the work to a child process. The import alone must be refused.
extern "C" int fork();
extern "C" void kerf_kernel(const float* x, float* y) {
  if (fork() == 0)
    for (int r = 0; r < rows; ++r) {
      float s = 0;
      for (int c = 0; c < cols; ++c) s += x[r * cols + c];
      y[r] = s;
    }
}
