/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Exploit: hangs the device.
extern "C" __global__ void rowsum_k(const float*, float* y) {
  volatile float* out = y;
  for (;;) out[0] = 1;
}
