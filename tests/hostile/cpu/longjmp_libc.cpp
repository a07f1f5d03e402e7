/* kerf
target: cpu
*/
// Exploit: jumps to where it was never called from. The import must be refused or the process must die.
#include <csetjmp>
extern "C" void kerf_kernel(const float*, float*) {
  jmp_buf forged;
  memset(&forged, 0x41, sizeof forged);
  std::longjmp(forged, 1);
}
