/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Exploit: brings the context down.
extern "C" __global__ void rowsum_k(const float*, float*) { asm volatile("trap;"); }
