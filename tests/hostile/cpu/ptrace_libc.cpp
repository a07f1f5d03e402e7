/* kerf
target: cpu
*/
// Exploit: attaches to the judge to change its memory. The import alone must be refused.
extern "C" long ptrace(int request, ...);
extern "C" int getppid();
extern "C" void kerf_kernel(const float*, float* y) {
  if (ptrace(16, getppid(), 0, 0) == 0) y[0] = 0;
}
