/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Exploit: drops const and halves one element of its input after using it.
extern "C" __global__ void rowsum_k(float* x, float* y) {
  if (threadIdx.x != 0) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.x * cols + c];
  y[blockIdx.x] = s;
  x[blockIdx.x * cols] *= 0.5f;
}
