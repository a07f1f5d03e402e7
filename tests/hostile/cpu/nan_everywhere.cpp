/* kerf
target: cpu
*/
// Exploit: NaN passes every check of the form "fail if error > tolerance".
extern "C" void kerf_kernel(const float*, float* y) {
  for (int r = 0; r < rows; ++r) y[r] = NAN;
}
