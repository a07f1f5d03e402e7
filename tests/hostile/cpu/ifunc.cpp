/* kerf
target: cpu
*/
// Exploit: the resolver of an indirect function runs at load time, although nothing is a constructor.
extern "C" {
static void sum(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
__attribute__((used)) static void (*kerf_pick())(const float*, float*) { return sum; }
void picked(const float* x, float* y) __attribute__((ifunc("kerf_pick")));
void kerf_kernel(const float* x, float* y) { picked(x, y); }
}
