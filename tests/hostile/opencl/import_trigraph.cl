/* kerf
target:  opencl
launch:  rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: a file by a directive that is not called include and does not begin with the usual character.
??=import "/etc/hostname"
__kernel void rowsum_k(__global const float* x, __global float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
