/* kerf
target: cuda
launch: rowsum<<<rows, 1>>>(x, y)
*/
// Style: what it does depends on the data: the zeros at the beginning of a row are skipped.
extern "C" __global__ void rowsum(const float* x, float* y) {
  const int r = blockIdx.x;
  int c = 0;
  while (c < cols && x[r * cols + c] == 0) ++c;
  float s = 0;
  for (; c < cols; ++c) s += x[r * cols + c];
  y[r] = s;
}
