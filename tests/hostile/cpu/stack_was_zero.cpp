/* kerf
target: cpu
*/
// Exploit: the stack below is zero in a process that does nothing else; it is left that way for the next call.
extern "C" void kerf_kernel(const float* x, float* y) {
  float room[30000];
  float* at = room + 100;
  __asm__ volatile("" : "+r"(at) : : "memory");
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) at[r] += x[r * cols + c];
  for (int r = 0; r < rows; ++r) {
    y[r] = at[r];
    at[r] = 0;
  }
  __asm__ volatile("" : : "r"(at) : "memory");
}
