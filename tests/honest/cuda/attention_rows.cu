/* kerf
target: cuda
launch: attend<<<(seq, heads), 32>>>(q, k, v, y)
*/
// Style: a warp a query row, running maximum and sum, head dimension over the lanes.
extern "C" __global__ void attend(const float* q, const float* k, const float* v, float* y) {
  const int i = blockIdx.x, g = blockIdx.y, d = threadIdx.x;
  const float scale = rsqrtf(float(dim));
  const float query = d < dim ? q[(g * seq + i) * dim + d] : 0.0f;
  float top = -3.4e38f, s = 0, sum = 0;
  for (int j = 0; j <= i; ++j) {
    float dot = d < dim ? query * k[(g * seq + j) * dim + d] : 0.0f;
    for (int e = 16; e > 0; e /= 2) dot += __shfl_xor_sync(~0u, dot, e);
    dot *= scale;
    const float both = fmaxf(top, dot), shrink = expf(top - both), p = expf(dot - both);
    s = s * shrink + p;
    sum = sum * shrink + (d < dim ? p * v[(g * seq + j) * dim + d] : 0.0f);
    top = both;
  }
  if (d < dim) y[(g * seq + i) * dim + d] = sum / s;
}
