/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: hangs the device.
__kernel void rowsum_k(__global const float* x, volatile __global float* y) {
  while (x[0] == x[0] || y[0] != 0) y[0] = 1;
}
