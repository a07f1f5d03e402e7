/* kerf
target: opencl
launch: rowsum_k<<<rows, 1>>>(x, y)
*/
// Style: compensated sum by two-sum.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  float s = 0, low = 0;
  for (int c = 0; c < cols; ++c) {
    float v = x[r * cols + c], t = s + v, z = t - s;
    low += (s - (t - z)) + (v - z);
    s = t;
  }
  y[r] = isfinite(s) && isfinite(low) ? s + low : s;
}
