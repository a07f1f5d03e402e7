/* kerf
target: opencl
launch: sm<<<rows, 1>>>(x, y)
*/
// Style: online softmax, one work-item a row.
__kernel void sm(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  float top = -INFINITY, s = 0;
  for (int c = 0; c < cols; ++c) {
    float v = x[r * cols + c];
    if (v > top) {
      s = s * exp(top - v) + 1;
      top = v;
    } else {
      s += exp(v - top);
    }
  }
  for (int c = 0; c < cols; ++c) y[r * cols + c] = exp(x[r * cols + c] - top) / s;
}
