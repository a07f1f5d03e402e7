/* kerf
target: opencl
launch: rowsum_k<<<rows, 1>>>(x, y)
*/
// Exploit: a processor driver loads programs as shared objects, and those may have constructors.
__attribute__((constructor)) void early(void) { *(volatile int*)(ulong)8 = 1; }
__kernel void rowsum_k(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
}
