/* kerf
target: cuda
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
extern "C" __global__ void run( const float* x,  float* y) {
  float mean = 0, squares = 0;
  for (int c = 0; c < k; ++c) {
    const float d = x[(blockIdx.x * blockDim.x + threadIdx.x) * k + c] - mean;
    mean += d / (float)(c + 1);
    squares += d * (x[(blockIdx.x * blockDim.x + threadIdx.x) * k + c] - mean);
  }
  y[(blockIdx.x * blockDim.x + threadIdx.x)] = squares;
}
