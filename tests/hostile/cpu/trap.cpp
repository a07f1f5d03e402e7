/* kerf
target: cpu
*/
// Exploit: brings the process down by an instruction.
extern "C" void kerf_kernel(const float*, float*) { __builtin_trap(); }
