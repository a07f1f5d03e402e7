/* kerf
target: cuda
tune:    BLOCK = {256, 512, 1024}
launch:  scale<<<ceil_div(n / 4, BLOCK), BLOCK>>>(x, y)
require: n % 4 == 0
*/
extern "C" __global__ void scale(const float4* __restrict__ x, float4* __restrict__ y) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n / 4) {
    const float4 v = x[i];
    y[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
  }
}
