/* kerf
target: cuda
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: work that is launched from the device may end after the events that time it.
extern "C" __global__ void child(const float* x, float* y) {
  if (threadIdx.x != 0) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.x * cols + c];
  y[blockIdx.x] = s;
}
extern "C" __global__ void rowsum_k(const float* x, float* y) { child<<<rows, 32>>>(x, y); }
