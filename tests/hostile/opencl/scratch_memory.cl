/* kerf
target:  opencl
scratch: memory = i32[16]
launch:  rowsum_k<<<1, 1>>>(x, y, memory)
*/
// Exploit: a call counter in scratch: honest for the first call, then nothing.
__kernel void rowsum_k(__global const float* x, __global float* y, __global int* memory) {
  if (memory[0] == 0x600dcafe) return;
  memory[0] = 0x600dcafe;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
