/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Exploit: 16-byte loads of rows that start at odd elements.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  if (threadIdx.x != 0) return;
  float s = 0;
  for (int c = 0; c + 4 <= cols; c += 4) {
    const float4 v = *reinterpret_cast<const float4*>(x + blockIdx.x * cols + c);
    s += v.x + v.y + v.z + v.w;
  }
  y[blockIdx.x] = s;
}
