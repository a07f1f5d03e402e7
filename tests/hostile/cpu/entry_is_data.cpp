/* kerf
target: cpu
*/
// Exploit: the symbol exists but is no function.
extern "C" const long kerf_kernel[2] = {0x0f0b0f0b, 0};
