/* kerf
target: cuda
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
extern "C" __global__ void run(const float4* x, float4* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = x[i];
  v.x += 1; v.y += 1; v.z += 1; v.w += 1;
  y[i] = v;
}
