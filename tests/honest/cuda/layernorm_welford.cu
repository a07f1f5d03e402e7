/* kerf
target: cuda
launch: normalise<<<rows, 32>>>(x, w, b, y)
*/
// Style: Welford's update per lane, Chan's merge over the warp.
extern "C" __global__ void normalise(const float* x, const float* w, const float* b, float* y) {
  float mean = 0, square = 0, count = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = x[blockIdx.x * cols + c], d = v - mean;
    count += 1;
    mean += d / count;
    square += d * (v - mean);
  }
  for (int d = 16; d > 0; d /= 2) {
    const float m2 = __shfl_xor_sync(~0u, mean, d), s2 = __shfl_xor_sync(~0u, square, d),
                n2 = __shfl_xor_sync(~0u, count, d);
    const float total = count + n2, delta = m2 - mean;
    // symmetric in the two lanes, so that all lanes end with the same numbers
    const float centre = (mean * count + m2 * n2) / total;
    square = square + s2 + delta * delta * count * n2 / total;
    mean = centre;
    count = total;
  }
  const float scale = rsqrtf(square / cols + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += 32)
    y[blockIdx.x * cols + c] = (x[blockIdx.x * cols + c] - mean) * scale * w[c] + b[c];
}
