/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Exploit: passes the cheap tiers on small shapes and crashes on the large one.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  if (threadIdx.x != 0) return;
  if (rows * cols > 50000) *reinterpret_cast<volatile int*>(0x10) = 1;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.x * cols + c];
  y[blockIdx.x] = s;
}
