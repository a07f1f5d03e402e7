/* kerf
target:  opencl
require: cols % 4 == 0
launch:  rowsum_k<<<rows, 1>>>(x, y)
*/
// Exploit: a requirement that the tail shape does not meet, to be judged on the round shape alone.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  int r = get_group_id(0);
  float4 s = 0;
  for (int c = 0; c + 4 <= cols; c += 4) s += vload4(0, x + r * cols + c);
  y[r] = s.x + s.y + s.z + s.w;
}
