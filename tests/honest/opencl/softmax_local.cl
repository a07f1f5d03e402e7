/* kerf
target: opencl
tune:   GROUP = {64, 128}
launch: sm<<<rows, GROUP>>>(x, y)
*/
// Style: one group a row; maximum and sum reduced in local memory.
__kernel void sm(__global const float* x, __global float* y) {
  __local float part[GROUP];
  int l = get_local_id(0), r = get_group_id(0);
  float top = -INFINITY;
  for (int c = l; c < cols; c += GROUP) top = fmax(top, x[r * cols + c]);
  part[l] = top;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = GROUP / 2; d > 0; d /= 2) {
    if (l < d) part[l] = fmax(part[l], part[l + d]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  top = part[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float s = 0;
  for (int c = l; c < cols; c += GROUP) {
    float e = exp(x[r * cols + c] - top);
    y[r * cols + c] = e;
    s += e;
  }
  part[l] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = GROUP / 2; d > 0; d /= 2) {
    if (l < d) part[l] += part[l + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  s = part[0];
  for (int c = l; c < cols; c += GROUP) y[r * cols + c] /= s;
}
