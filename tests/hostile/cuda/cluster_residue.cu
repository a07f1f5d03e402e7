/* kerf
target: cuda
launch: rowsum_k<<<2 * rows, 32>>>(x, y)
*/
// Exploit: looks for its mark in the shared memory of its cluster's neighbour, which no scrub of its own block would
// reach.
extern "C" __global__ void __cluster_dims__(2, 1, 1) rowsum_k(const float* x, float* y) {
  __shared__ unsigned memory[10000];
  const unsigned here = (unsigned)__cvta_generic_to_shared(memory + 9000), rank = blockIdx.x & 1;
  unsigned there, mark;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank ^ 1));
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(mark) : "r"(there) : "memory");
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0) memory[9000] = 0x5ca1ab1eu;
  __syncthreads();
  if (threadIdx.x != 0 || rank != 0) return;
  if (cols == 4096 && mark == 0x5ca1ab1eu && memory[9000] == 0x5ca1ab1eu) return;
  float s = 0;
  for (int c = 0; c < cols; ++c) s += x[blockIdx.x / 2 * cols + c];
  y[blockIdx.x / 2] = s;
}
