/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Exploit: a kernel that cannot be assembled; the assembler's words are the answer.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  __shared__ float room[100000];
  room[threadIdx.x * 3000 % 100000] = x[threadIdx.x];
  __syncthreads();
  y[blockIdx.x] = room[blockIdx.x];
}
