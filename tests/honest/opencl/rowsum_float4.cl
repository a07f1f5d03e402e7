/* kerf
target: opencl
launch: rowsum_k<<<rows, 1>>>(x, y)
*/
// Style: vload4 (no alignment needed) with a scalar tail.
__kernel void rowsum_k(__global const float* x, __global float* y) {
  int r = get_group_id(0), c = 0;
  float4 s = (float4)(0);
  for (; c + 4 <= cols; c += 4) s += vload4(0, x + r * cols + c);
  float t = (s.x + s.y) + (s.z + s.w);
  for (; c < cols; ++c) t += x[r * cols + c];
  y[r] = t;
}
