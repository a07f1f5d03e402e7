/* kerf
target: cuda
launch: missing<<<rows, 32>>>(x, y)
*/
// Exploit: a launch that cannot happen must not count as a fast one.
extern "C" __global__ void rowsum_k(const float* x, float* y) { y[blockIdx.x] = x[0]; }
