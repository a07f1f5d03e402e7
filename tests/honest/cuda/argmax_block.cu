/* kerf
target: cuda
launch: am<<<rows, 256>>>(x, y)
*/
// Style: value and index reduced together in shared memory; on equal values the smaller index wins.
extern "C" __global__ void am(const float* x, long long* y) {
  __shared__ float value[256];
  __shared__ int place[256];
  const int t = threadIdx.x, r = blockIdx.x;
  int at = t;
  float top = x[r * cols + t];
  for (int c = t + 256; c < cols; c += 256)
    if (x[r * cols + c] > top) top = x[r * cols + c], at = c;
  value[t] = top, place[t] = at;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d && (value[t + d] > value[t] || (value[t + d] == value[t] && place[t + d] < place[t])))
      value[t] = value[t + d], place[t] = place[t + d];
    __syncthreads();
  }
  if (t == 0) y[r] = place[0];
}
