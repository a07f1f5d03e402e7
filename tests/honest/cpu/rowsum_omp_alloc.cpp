/* kerf
target: cpu
*/
// Style: partial sums in memory of OpenMP's allocator and of memalign, one line per thread.
extern "C" void* memalign(unsigned long, unsigned long);
extern "C" void kerf_kernel(const float* x, float* y) {
  const int threads = omp_get_max_threads();
  float* parts = static_cast<float*>(memalign(64, 64ul * threads));
  float* row = static_cast<float*>(omp_alloc(sizeof(float) * cols, omp_default_mem_alloc));
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) row[c] = x[long(r) * cols + c];
    for (int t = 0; t < threads; ++t) parts[16 * t] = 0;
#pragma omp parallel num_threads(threads)
    for (int c = omp_get_thread_num(); c < cols; c += omp_get_num_threads()) parts[16 * omp_get_thread_num()] += row[c];
    y[r] = 0;
    for (int t = 0; t < threads; ++t) y[r] += parts[16 * t];
  }
  omp_free(row, omp_default_mem_alloc);
  free(parts);
}
