/* kerf
target: cuda
launch: mm<<<(n, m), 256>>>(a, b, c)
*/
// Style: one block an output, the long sum split over its threads.
extern "C" __global__ void mm(const float* a, const float* b, float* c) {
  __shared__ float part[8];
  float s = 0;
  for (int p = threadIdx.x; p < k; p += 256) s = fmaf(a[blockIdx.y * k + p], b[p * n + blockIdx.x], s);
  for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float t = 0;
  for (float v : part) t += v;
  c[blockIdx.y * n + blockIdx.x] = t;
}
