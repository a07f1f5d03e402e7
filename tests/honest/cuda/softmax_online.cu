/* kerf
target: cuda
launch: sm<<<rows, 256>>>(x, y)
*/
// Style: online softmax per thread, pairs merged in shared memory.
extern "C" __global__ void sm(const float* x, float* y) {
  __shared__ float tops[256], sums[256];
  const int t = threadIdx.x, r = blockIdx.x;
  float top = -3.4e38f, s = 0;
  for (int c = t; c < cols; c += 256) {
    const float v = x[r * cols + c];
    if (v > top) {
      s = s * expf(top - v) + 1;
      top = v;
    } else {
      s += expf(v - top);
    }
  }
  tops[t] = top, sums[t] = s;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) {
      const float both = fmaxf(tops[t], tops[t + d]);
      sums[t] = sums[t] * expf(tops[t] - both) + sums[t + d] * expf(tops[t + d] - both);
      tops[t] = both;
    }
    __syncthreads();
  }
  top = tops[0], s = sums[0];
  for (int c = t; c < cols; c += 256) y[r * cols + c] = expf(x[r * cols + c] - top) / s;
}
