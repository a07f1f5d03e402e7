/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Exploit: writes just above its output.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  if (threadIdx.x != 0) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.x * cols + c];
  y[blockIdx.x] = s;
  if (blockIdx.x == 0) y[rows] = 1.0f;
}
