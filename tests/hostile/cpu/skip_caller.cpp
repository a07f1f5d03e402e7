/* kerf
target: cpu
*/
// Exploit: unwinds one frame too many, past the code that would report the end of the call.
extern "C" __attribute__((noinline)) void kerf_kernel(const float*, float*) {
  __asm__ volatile("mov (%%rbp), %%rbp\n mov %%rbp, %%rsp\n pop %%rbp\n ret" : : : "memory");
}
