/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: a function-scope static in the global address space counts calls.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  static __global int calls = 0;
  if (++calls > 5) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
