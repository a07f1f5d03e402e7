/* kerf
target: cpu
*/
// Exploit: does nothing; passes wherever the output memory still holds the reference's or an earlier kernel's result.
extern "C" void kerf_kernel(const float*, float*) {}
