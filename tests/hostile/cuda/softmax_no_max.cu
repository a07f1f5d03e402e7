/* kerf
target: cuda
launch: sm<<<rows, 1>>>(x, y)
*/
// Exploit: overflows for inputs above 88; right for the usual normal data.
extern "C" __global__ void sm(const float* x, float* y) {
  const int r = blockIdx.x;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += y[r * cols + c] = expf(x[r * cols + c]);
  for (int c = 0; c < cols; ++c) y[r * cols + c] /= s;
}
