/* kerf
target: cuda
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: managed memory is a writable global that the host sees as well.
__managed__ int calls = 0;
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  if (++calls > 5) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}
