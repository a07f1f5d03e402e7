/* kerf
target: cuda
launch: first<<<ceil_div(n, 64), 64>>>(x, y)
launch: second<<<ceil_div(n, 64), 64>>>(y)
*/
extern "C" __global__ void first( const float* x,  float* y) { y[(blockIdx.x * blockDim.x + threadIdx.x)] = fmaf(x[(blockIdx.x * blockDim.x + threadIdx.x)], 2.0f, 1.0f); }
extern "C" __global__ void second( float* y) { y[(blockIdx.x * blockDim.x + threadIdx.x)] = fmaf(y[(blockIdx.x * blockDim.x + threadIdx.x)], y[(blockIdx.x * blockDim.x + threadIdx.x)], 1.0f); }
