/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: floods the output of its process.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  for (int i = 0; i < 2000000000; ++i) printf("%d %f\n", i, x[0]);
}
