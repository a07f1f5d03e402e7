/* kerf
target: cpu
*/
// Exploit: sabotage: remembers the outputs it was given (in dead stack memory) and zeroes them again in later calls,
// when they may belong to the baseline it is compared with. The neighbour must not suffer, and the culprit must be
// named.
extern "C" void kerf_kernel(const float* x, float* y) {
  struct Memory {
    unsigned long magic, used;
    float* seen[500];
  } room;
  Memory* memory = &room;
  __asm__ volatile("" : "+r"(memory) : : "memory");
  if (memory->magic != 0xbadc0ffeUL) memory->magic = 0xbadc0ffeUL, memory->used = 0;
  for (unsigned long i = 0; i < memory->used; ++i)
    if (memory->seen[i] != y) const_cast<volatile float*>(memory->seen[i])[0] = 0.0f;
  bool known = false;
  for (unsigned long i = 0; i < memory->used; ++i) known |= memory->seen[i] == y;
  if (!known && memory->used < 500) memory->seen[memory->used++] = y;
  __asm__ volatile("" : : "r"(memory) : "memory");
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
