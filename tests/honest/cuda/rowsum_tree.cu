/* kerf
target: cuda
tune:   BLOCK = {256, 128}
launch: rowsum_k<<<rows, BLOCK, BLOCK * 4>>>(x, y)
*/
// Style: tree reduction in dynamic shared memory.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  extern __shared__ float part[];
  const int t = threadIdx.x;
  float s = 0;
  for (int c = t; c < cols; c += BLOCK) s += x[blockIdx.x * cols + c];
  part[t] = s;
  __syncthreads();
  for (int d = BLOCK / 2; d > 0; d /= 2) {
    if (t < d) part[t] += part[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}
