/* kerf
target: cpu
*/
static void sums(const float* x, float* y, float more) {
  for (long r = 0; r < rows; ++r) {
    float sum = 0;
    for (long c = 0; c < cols; ++c) sum += x[r * cols + c];
    y[r] = sum + more;
  }
}

extern "C" __attribute__((noinline)) void right_sums(const float* x, float* y) { sums(x, y, 0); }
extern "C" __attribute__((noinline)) void wrong_sums(const float* x, float* y) { sums(x, y, 1000); }

// A caller that loads the address into rax, as the judge once did.
extern "C" __attribute__((naked)) void kerf_kernel(const float* x, float* y) {
  __asm__("0: lea 0b(%rip), %r10\n cmp %r10, %rax\n jne 1f\n jmp right_sums\n1: jmp wrong_sums");
}
