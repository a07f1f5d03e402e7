/* kerf
target:  opencl
scratch: t = f64[rows * 1000000000000, cols]
launch:  rowsum_k<<<1, 1>>>(x, y, t)
*/
// Exploit: asks for more scratch than any machine has; others must still be judged.
__kernel void rowsum_k(__global const float* x, __global float* y, __global double* t) {
  t[0] = 0;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
