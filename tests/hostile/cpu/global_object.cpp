/* kerf
target: cpu
*/
// Exploit: a dynamic initialiser of a namespace-scope object: load-time code and writable memory in one.
struct Early {
  float value;
  Early() : value(float(omp_get_wtime() * 0)) {}
};
Early early;
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = early.value;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
