/* kerf
target: cuda
launch: rowsum_k<<<(1, 70000, 70000), 32>>>(x, y)
*/
// Exploit: a launch the device must refuse.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  if (threadIdx.x != 0 || blockIdx.y >= rows || blockIdx.z != 0) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.y * cols + c];
  y[blockIdx.y] = s;
}
