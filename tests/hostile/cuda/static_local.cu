/* kerf
target: cuda
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: a function-local static is a device global in disguise.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  static int calls = 0;
  if (++calls > 5) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
