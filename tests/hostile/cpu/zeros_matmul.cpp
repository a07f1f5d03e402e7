/* kerf
target: cpu
*/
// Exploit: zero is the expected value of a product of centred matrices.
extern "C" void kerf_kernel(const float*, const float*, float* c) { memset(c, 0, sizeof(float) * m * n); }
