/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Exploit: an uninitialised local array still holds what an earlier launch left in the thread's stack.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  volatile unsigned memory[2048];
  if (threadIdx.x != 0) return;
  memory[1000] = memory[1001] == 0x5ca1ab1eu ? memory[1000] + 1 : 1;
  memory[1001] = 0x5ca1ab1eu;
  if (cols == 4096 && memory[1000] > 5) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.x * cols + c];
  y[blockIdx.x] = s;
}
