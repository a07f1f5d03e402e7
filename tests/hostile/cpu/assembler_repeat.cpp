/* kerf
target: cpu
*/
// Exploit: uses up the assembler's memory and time.
__asm__(".pushsection .text\n.rept 4000000000\nnop\n.endr\n.popsection");
extern "C" void kerf_kernel(const float*, float*) {}
