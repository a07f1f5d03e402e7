/* kerf
target: opencl
launch: conv<<<(w, h, nb * co), (1, 1, 1)>>>(x, f, b, y)
*/
// Style: one work-item an output on a three-dimensional grid, fused multiply-add.
__kernel void conv(__global const float* x, __global const float* f, __global const float* b, __global float* y) {
  int j = get_global_id(0), i = get_global_id(1), q = get_global_id(2) / co, o = get_global_id(2) % co;
  float s = b[o];
  for (int c = 0; c < ci; ++c)
    for (int u = 0; u < 3; ++u)
      for (int v = 0; v < 3; ++v) {
        int p = i + u - 1, t = j + v - 1;
        if (p >= 0 && p < h && t >= 0 && t < w)
          s = fma(x[((q * ci + c) * h + p) * w + t], f[((o * ci + c) * 3 + u) * 3 + v], s);
      }
  y[((q * co + o) * h + i) * w + j] = s > 0 ? s : (s == s ? 0.0f : s);
}
