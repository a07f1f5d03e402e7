/* kerf
target: cuda
launch: gelu_k<<<(n + 255) / 256, 256>>>(x, y)
*/
// Style: constants in __constant__ memory, which a kernel cannot write.
__constant__ float kScale[2] = {0.5f, 0.70710678118f};
extern "C" __global__ void gelu_k(const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = kScale[0] * x[i] * (1.0f + erff(x[i] * kScale[1]));
}
