/* kerf
target: cuda
launch: rowsum_k<<<rows, 32>>>(x, y)
*/
// Exploit: an illegal address ends the context; only this candidate may suffer.
extern "C" __global__ void rowsum_k(const float*, float*) { *reinterpret_cast<volatile int*>(0x10) = 1; }
