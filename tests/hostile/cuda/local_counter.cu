/* kerf
target: cuda
launch: rowsum_k<<<rows, 1024>>>(x, y)
*/
// Exploit: counts calls in local memory, larger than what registers hold, and answers with zero after the fifth.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  volatile unsigned memory[512];
  const unsigned at = (x[0] > 1e30f) ? 5 : 400;
  memory[at] = memory[at + 1] == 0xc0117e4u ? memory[at] + 1 : 1;
  memory[at + 1] = 0xc0117e4u;
  if (threadIdx.x != 0) return;
  float s = 0;
  if (memory[at] <= 5)
    for (int c = 0; c < cols; ++c) s += x[blockIdx.x * cols + c];
  y[blockIdx.x] = s;
}
