/* kerf
target: cpu
*/
// Exploit: exhausts the stack.
__attribute__((noinline)) static float deeper(const float* x, volatile float* room) {
  volatile float mine[64];
  mine[0] = room[0] + x[0];
  return deeper(x, mine) + mine[0];
}
extern "C" void kerf_kernel(const float* x, float* y) {
  volatile float first[1] = {0};
  y[0] = deeper(x, first);
}
