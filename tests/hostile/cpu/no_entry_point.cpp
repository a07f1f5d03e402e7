/* kerf
target: cpu
*/
// Exploit: nothing to call; an empty run must not count as a fast one.
extern "C" void other_kernel(const float*, float*) {}
