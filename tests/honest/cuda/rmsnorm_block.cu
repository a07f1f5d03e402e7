/* kerf
target: cuda
tune:   BLOCK = {256, 128, 512}
launch: normalise<<<rows, BLOCK>>>(x, w, y)
*/
// Style: one block a row; rsqrtf, two units in the last place.
extern "C" __global__ void normalise(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y) {
  __shared__ float part[BLOCK / 32], scale;
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += BLOCK) s = fmaf(x[blockIdx.x * cols + c], x[blockIdx.x * cols + c], s);
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    float t = 0;
    for (float p : part) t += p;
    scale = rsqrtf(t / cols + 1e-6f);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += BLOCK) y[blockIdx.x * cols + c] = x[blockIdx.x * cols + c] * scale * w[c];
}
