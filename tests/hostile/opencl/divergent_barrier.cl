/* kerf
target: opencl
launch: rowsum_k<<<rows, 64>>>(x, y)
*/
// Exploit: undefined behaviour that hangs some drivers: a barrier that not every work-item reaches, and a racy sum.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  __local float part[64];
  int l = get_local_id(0), r = get_group_id(0);
  float s = 0;
  for (int c = l; c < cols; c += 64) s += x[r * cols + c];
  part[l] = s;
  if (l < 32) barrier(CLK_LOCAL_MEM_FENCE);
  if (l < 16) y[r] = part[l] + part[l + 16];
}
