/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Exploit: writes just below its output. The result is right, so only the red zone in front of the buffer can tell.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  if (threadIdx.x != 0) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.x * cols + c];
  y[blockIdx.x] = s;
  if (blockIdx.x == 0) y[-1] = 1.0f;
}
