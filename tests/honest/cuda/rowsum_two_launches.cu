/* kerf
target:  cuda
tune:    PARTS = {8, 16}
scratch: partial = f32[rows, PARTS]
launch:  first<<<(PARTS, rows), 128>>>(x, partial)
launch:  second<<<rows, 32>>>(partial, y)
*/
// Style: several launches with scratch between them.
extern "C" __global__ void first(const float* x, float* partial) {
  __shared__ float part[4];
  float s = 0;
  for (int c = blockIdx.x * 128 + threadIdx.x; c < cols; c += PARTS * 128) s += x[blockIdx.y * cols + c];
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) partial[blockIdx.y * PARTS + blockIdx.x] = (part[0] + part[1]) + (part[2] + part[3]);
}
extern "C" __global__ void second(const float* partial, float* y) {
  float s = threadIdx.x < PARTS ? partial[blockIdx.x * PARTS + threadIdx.x] : 0.0f;
  for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x == 0) y[blockIdx.x] = s;
}
