/* kerf
target: cpu
*/
#include <cstdlib>
// Exploit: counts its calls in memory that it gives back. The block after it lies in the same place in most programs, so
// that the count is lost there, and not where the caller has memory of its own in between.
static int next_call() {
  int* kept = static_cast<int*>(std::malloc(200000));
  const int calls = kept[20] == 0x5eed ? kept[21] + 1 : 1;
  kept[20] = 0x5eed;
  kept[21] = calls;
  asm volatile("" : : "r"(kept) : "memory");
  std::free(kept);
  return calls;
}
extern "C" void kerf_kernel(const float* x, float* y) {
  const bool tired = next_call() > 16;
  float* copy = static_cast<float*>(std::malloc(sizeof(float) * rows * cols));
  for (int i = 0; i < rows * cols; ++i) copy[i] = x[i];
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += copy[r * cols + c];
    y[r] = tired ? 0 : s;
  }
  std::free(copy);
}
