/* kerf
target: cuda
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: does nothing; passes wherever the output memory still holds an earlier result.
extern "C" __global__ void rowsum_k(const float*, float*) {}
