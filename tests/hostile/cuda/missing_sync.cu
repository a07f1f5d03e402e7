/* kerf
target: cuda
launch: rowsum_k<<<rows, 1024>>>(x, y)
*/
// Exploit: a tree sum in which half of the warps run ahead, without barriers.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  __shared__ float part[1024];
  const int t = threadIdx.x;
  float s = 0;
  for (int c = t; c < cols; c += 1024) s += x[blockIdx.x * cols + c];
  if (t >= 512) __nanosleep(2000);
  part[t] = s;
  for (int d = 512; d > 0; d /= 2)
    if (t < d) part[t] += part[t + d];
  if (t == 0) y[blockIdx.x] = part[0];
}
