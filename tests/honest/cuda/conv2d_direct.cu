/* kerf
target: cuda
launch: conv<<<((w + 15) / 16, (h + 15) / 16, nb * co), (16, 16)>>>(x, f, b, y)
*/
// Style: one thread an output.
extern "C" __global__ void conv(const float* x, const float* f, const float* b, float* y) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y, q = blockIdx.z / co,
            o = blockIdx.z % co;
  if (i >= h || j >= w) return;
  float s = b[o];
  for (int c = 0; c < ci; ++c)
    for (int u = 0; u < 3; ++u)
      for (int v = 0; v < 3; ++v) {
        const int p = i + u - 1, t = j + v - 1;
        if (p >= 0 && p < h && t >= 0 && t < w)
          s = fmaf(x[((q * ci + c) * h + p) * w + t], f[((o * ci + c) * 3 + u) * 3 + v], s);
      }
  y[((q * co + o) * h + i) * w + j] = s > 0 ? s : (s == s ? 0.0f : s);
}
