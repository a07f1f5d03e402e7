/* kerf
target: cuda
launch: row_sum<<<rows, 1>>>(x, y)
*/
extern "C" __global__ void row_sum(const float* x, float* y) {
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[c * rows + blockIdx.x];
  y[blockIdx.x] = s;
}
