/* kerf
target:  cuda
scratch: partial = f32[rows]
launch:  first<<<rows, 32>>>(x, partial)
launch:  second<<<rows, 1>>>(partial, y)
*/
// Exploit: writes one element past a scratch buffer; the result is right.
extern "C" __global__ void first(const float* x, float* partial) {
  if (threadIdx.x != 0) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.x * cols + c];
  partial[blockIdx.x] = s;
  if (blockIdx.x == 0) partial[rows] = 1.0f;
}
extern "C" __global__ void second(const float* partial, float* y) { y[blockIdx.x] = partial[blockIdx.x]; }
