/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: an uninitialised private array still holds what the launch before left on the stack.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  volatile uint memory[65536];
  memory[100] = memory[101] == 0x5ca1ab1eu ? memory[100] + 1 : 1;
  memory[101] = 0x5ca1ab1eu;
  if (cols == 4096 && memory[100] > 2) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
