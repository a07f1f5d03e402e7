/* kerf
target: cpu
*/
// Exploit: fills the disk with constant data.
extern const char table[1UL << 34] = {1};
extern "C" void kerf_kernel(const float* x, float* y) { y[0] = table[long(x[0])]; }
