/* kerf
target: cuda
launch: scan<<<rows, 32>>>(x, y)
*/
// Style: a warp a row: inclusive scans of 32 elements by shuffles, the last lane's sum carried on.
extern "C" __global__ void scan(const float* x, float* y) {
  float carry = 0;
  for (int b = 0; b < cols; b += 32) {
    const int c = b + threadIdx.x;
    float s = c < cols ? x[blockIdx.x * cols + c] : 0.0f;
    for (int d = 1; d < 32; d *= 2) {
      const float left = __shfl_up_sync(~0u, s, d);
      if (threadIdx.x >= d) s += left;
    }
    s += carry;
    if (c < cols) y[blockIdx.x * cols + c] = s;
    carry = __shfl_sync(~0u, s, 31);
  }
}
