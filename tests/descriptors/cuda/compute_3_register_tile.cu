/* kerf
target: cuda
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
extern "C" __global__ void run( const float* x,  float* y) {
  __shared__ float a[8][64];
  float t[16];
  for (int j = 0; j < 16; ++j) t[j] = 0;
  for (int b = 0; b < k / 8; ++b) {
    for (int p = 0; p < 8; ++p) a[p][threadIdx.x] = x[(b * 8 + p) * 64 + threadIdx.x];
    __syncthreads();
    for (int p = 0; p < 8; ++p)
      for (int j = 0; j < 16; ++j) t[j] = fmaf(a[p][threadIdx.x], a[p][j], t[j]);
    __syncthreads();
  }
  for (int j = 0; j < 16; ++j) y[(blockIdx.x * 16 + j) * 64 + threadIdx.x] = t[j];
}
