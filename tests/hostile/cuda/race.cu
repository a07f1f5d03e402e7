/* kerf
target: cuda
launch: rowsum_k<<<rows, 256>>>(x, y)
*/
// Exploit: adds to one word from all threads without atomics.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  __shared__ volatile float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += 256) s += x[blockIdx.x * cols + c];
  sum = sum + s;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
