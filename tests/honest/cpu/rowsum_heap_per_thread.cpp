/* kerf
target: cpu
*/
// Style: many threads, each with a row of its own on the heap, all at the same time: more than the C library's malloc
// has arenas for before it asks how many cores there are.
#include <vector>
extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel num_threads(20)
  {
    std::vector<float> row(cols);
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c) row[c] = x[long(r) * cols + c];
      float s = 0;
      for (int c = 0; c < cols; ++c) s += row[c];
      y[r] = s;
    }
  }
}
