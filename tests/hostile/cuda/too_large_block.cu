/* kerf
target: cuda
launch: rowsum_k<<<rows, 4096>>>(x, y)
*/
// Exploit: a launch the device must refuse; a refused launch must not count as a fast one.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  if (threadIdx.x != 0) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.x * cols + c];
  y[blockIdx.x] = s;
}
