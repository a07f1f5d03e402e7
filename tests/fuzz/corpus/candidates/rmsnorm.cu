/* kerf
target:  cuda
tune:    BLOCK = {128, 256, 512, 1024}
tune:    VEC = {1, 2, 4}
require: cols % VEC == 0 || VEC == 1
scratch: none
launch:  rmsnorm<<<rows, BLOCK>>>(x, w, y)
*/
extern "C" __global__ void rmsnorm(const float* x, const float* w, float* y) {}
