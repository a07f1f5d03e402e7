/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Exploit: one write 1 MiB behind the output, to jump over a narrow red zone into a neighbour.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  if (threadIdx.x != 0) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.x * cols + c];
  y[blockIdx.x] = s;
  if (blockIdx.x == 0) y[rows + (1 << 18)] = 1.0f;
}
