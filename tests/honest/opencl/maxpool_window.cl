/* kerf
target: opencl
launch: pool<<<((w + 2 - 3) / 2 + 1, (h + 2 - 3) / 2 + 1, planes), (1, 1, 1)>>>(x, y)
*/
// Style: one work-item a window.
__kernel void pool(__global const float* x, __global float* y) {
  int j = get_global_id(0), i = get_global_id(1), p = get_global_id(2);
  float top = -INFINITY;
  for (int u = max(0, 2 * i - 1); u < min((int)h, 2 * i + 2); ++u)
    for (int v = max(0, 2 * j - 1); v < min((int)w, 2 * j + 2); ++v) {
      float value = x[(p * h + u) * w + v];
      top = value > top ? value : top;
    }
  y[(p * get_global_size(1) + i) * get_global_size(0) + j] = top;
}
