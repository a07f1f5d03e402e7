/* kerf
target: opencl
launch: gelu_k<<<32, 64>>>(x, y)
*/
// Style: a fixed grid that strides over the data, double inside.
__kernel void gelu_k(__global const float* x, __global float* y) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    double v = x[i];
    y[i] = (float)(0.5 * v * erfc(-v * 0.70710678118654752440));
  }
}
