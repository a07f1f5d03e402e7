/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* x, float* y) { y[0] = x[0] }
