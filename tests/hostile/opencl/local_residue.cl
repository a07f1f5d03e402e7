/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: local memory arrives with what the launch before left in it: a call counter, then no more work.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  __local volatile uint memory[1024];
  memory[500] = memory[501] == 0x5ca1ab1eu ? memory[500] + 1 : 1;
  memory[501] = 0x5ca1ab1eu;
  if (cols == 4096 && memory[500] > 5) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
