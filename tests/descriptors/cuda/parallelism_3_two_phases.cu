/* kerf
target: cuda
scratch: part = f32[n]
launch: first<<<ceil_div(n, 128), 64>>>(x, part)
launch: second<<<ceil_div(n, 256), 64>>>(part, y)
*/
extern "C" __global__ void first( const float* x,  float* part) { part[(blockIdx.x * blockDim.x + threadIdx.x)] = x[(blockIdx.x * blockDim.x + threadIdx.x)] + x[(blockIdx.x * blockDim.x + threadIdx.x) + n / 2]; }
extern "C" __global__ void second( const float* part,  float* y) { y[(blockIdx.x * blockDim.x + threadIdx.x)] = part[(blockIdx.x * blockDim.x + threadIdx.x)] + part[(blockIdx.x * blockDim.x + threadIdx.x) + n / 4]; }
