/* kerf
target: cuda
launch: rowsum_k<<<rows, 32, 1048576>>>(x, y)
*/
// Exploit: a launch the device must refuse.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  extern __shared__ float room[];
  if (threadIdx.x != 0) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += room[c] = x[blockIdx.x * cols + c];
  y[blockIdx.x] = s;
}
