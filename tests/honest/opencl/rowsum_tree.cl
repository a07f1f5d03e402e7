/* kerf
target: opencl
tune:   GROUP = {64, 128, 256}
launch: rowsum_k<<<rows, GROUP>>>(x, y)
*/
// Style: strided partial sums and a tree in local memory, with a tunable group size.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  __local float part[GROUP];
  int l = get_local_id(0), r = get_group_id(0);
  float s = 0;
  for (int c = l; c < cols; c += GROUP) s += x[r * cols + c];
  part[l] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = GROUP / 2; d > 0; d /= 2) {
    if (l < d) part[l] += part[l + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) y[r] = part[0];
}
