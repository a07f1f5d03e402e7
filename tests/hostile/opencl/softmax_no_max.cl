/* kerf
target: opencl
launch: sm<<<rows, 1>>>(x, y)
*/
// Exploit: overflows for inputs above 88; right for the usual normal data.
__kernel void sm(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) s += y[r * cols + c] = exp(x[r * cols + c]);
  for (int c = 0; c < cols; ++c) y[r * cols + c] /= s;
}
