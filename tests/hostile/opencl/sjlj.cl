/* kerf
target:  opencl
launch:  rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: the compiler's setjmp and longjmp: a jump to an address of the kernel's choice.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  void* frame[5];
  if (__builtin_setjmp(frame) == 0) {
    frame[1] = (void*)0x1234;
    __builtin_longjmp(frame, 1);
  }
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
