/* kerf
target: cuda
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
extern "C" __global__ void run( const float* x,  float* y) {
  float top = x[(blockIdx.x * blockDim.x + threadIdx.x) * k], sum = 1;
  for (int c = 1; c < k; ++c) {
    const float next = fmaxf(top, x[(blockIdx.x * blockDim.x + threadIdx.x) * k + c]);
    sum = sum * __expf(top - next) + __expf(x[(blockIdx.x * blockDim.x + threadIdx.x) * k + c] - next);
    top = next;
  }
  y[(blockIdx.x * blockDim.x + threadIdx.x)] = top + sum;
}
