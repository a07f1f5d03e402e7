/* kerf
target: cuda
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: casts constness away and counts calls in the memory behind a __constant__ variable.
__constant__ int calls[4] = {0, 0, 0, 0};
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  volatile int* memory = const_cast<volatile int*>(reinterpret_cast<const volatile int*>(&calls[0]));
  const int seen = memory[0];
  memory[0] = seen + 1;
  if (seen > 10) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
