/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: casts the qualifier away and counts calls in constant memory.
__constant int calls[4] = {0, 0, 0, 0};
__kernel void rowsum_k(__global const float* x, __global float* y) {
  volatile int* memory = (volatile int*)(ulong)&calls[0];
  memory[0] = memory[0] + 1;
  if (memory[0] > 5) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
