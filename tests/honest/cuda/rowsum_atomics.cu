/* kerf
target:  cuda
launch:  zero<<<(rows + 127) / 128, 128>>>(y)
launch:  add<<<(4, rows), 256>>>(x, y)
*/
// Style: atomic adds in any order, after a launch that sets the output to zero.
extern "C" __global__ void zero(float* y) {
  const int r = blockIdx.x * 128 + threadIdx.x;
  if (r < rows) y[r] = 0;
}
extern "C" __global__ void add(const float* x, float* y) {
  float s = 0;
  for (int c = blockIdx.x * 256 + threadIdx.x; c < cols; c += 1024) s += x[blockIdx.y * cols + c];
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) atomicAdd(&y[blockIdx.y], s);
}
