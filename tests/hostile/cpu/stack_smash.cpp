/* kerf
target: cpu
*/
// Exploit: a classic overflow of a local array, up through every caller.
extern "C" void kerf_kernel(const float* x, float*) {
  volatile float room[4];
  for (int i = 0; i < (1 << 24); ++i) room[i] = x[i % (rows * cols)];
}
