/* kerf
target: opencl
launch: normalise<<<rows, 64>>>(x, w, y)
*/
// Style: strided squares, tree in local memory, constant address space table of eps.
__constant float kEps[1] = {1e-6f};
__kernel void normalise(__global const float* x, __global const float* w, __global float* y) {
  __local float part[64];
  int l = get_local_id(0), r = get_group_id(0);
  float s = 0;
  for (int c = l; c < cols; c += 64) s = fma(x[r * cols + c], x[r * cols + c], s);
  part[l] = s;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 32; d > 0; d /= 2) {
    if (l < d) part[l] += part[l + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float scale = 1.0f / sqrt(part[0] / cols + kEps[0]);
  for (int c = l; c < cols; c += 64) y[r * cols + c] = x[r * cols + c] * scale * w[c];
}
