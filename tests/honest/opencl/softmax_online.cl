/* kerf
target: opencl
launch: sm<<<rows, 1>>>(x, y)
*/
// Style: online softmax, one work-item a row. Each stretch of 64 columns has its own maximum and sum, which are merged:
// one running sum over a long row loses the terms that are below a rounding of it (docs/verification.md).
__kernel void sm(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  float top = -INFINITY, s = 0;
  for (int from = 0; from < cols; from += 64) {
    float here = -INFINITY, part = 0;
    for (int c = from; c < from + 64 && c < cols; ++c) {
      float v = x[r * cols + c];
      if (v > here) {
        part = part * exp(here - v) + 1;
        here = v;
      } else if (v != -INFINITY) {
        part += exp(v - here);
      }
    }
    if (part == 0) continue;  // nothing but minus infinities
    if (here > top) {
      s = s * exp(top - here) + part;
      top = here;
    } else {
      s += part * exp(here - top);
    }
  }
  for (int c = 0; c < cols; ++c) y[r * cols + c] = exp(x[r * cols + c] - top) / s;
}
