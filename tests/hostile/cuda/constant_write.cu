/* kerf
target: cuda
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: takes the generic address of a __constant__ variable by inline assembly and counts calls in it.
extern "C" {
__constant__ int kerf_calls[4] = {0, 0, 0, 0};
}
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  unsigned long long at;
  asm volatile("{ .reg .u64 p; mov.u64 p, kerf_calls; cvta.const.u64 %0, p; }" : "=l"(at));
  volatile int* memory = reinterpret_cast<volatile int*>(at);
  const int seen = memory[0];
  memory[0] = seen + 1;
  if (seen > 5) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s + kerf_calls[3];
  }
}
