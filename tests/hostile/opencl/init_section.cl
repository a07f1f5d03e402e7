/* kerf
target:  opencl
launch:  rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: a function in the section of start-up code, which runs when the driver opens the code it has linked.
__attribute__((section(".init"), used)) void early(void) {}
__kernel void rowsum_k(__global const float* x, __global float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
