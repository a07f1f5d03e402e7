/* kerf
target: cuda
launch: row_sum<<<rows, 32>>>(x, y)
*/
extern "C" __global__ void row_sum(const float* x, float* y) { y[0] = z[0]; }
