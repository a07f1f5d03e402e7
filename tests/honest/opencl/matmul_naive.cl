/* kerf
target: opencl
launch: mm<<<(n, m), (1, 1)>>>(a, b, c)
*/
// Style: one work-item an element on a two-dimensional grid.
__kernel void mm(__global const float* a, __global const float* b, __global float* c) {
  int j = get_global_id(0), i = get_global_id(1);
  float s = 0;
  for (int p = 0; p < k; ++p) s += a[i * k + p] * b[p * n + j];
  c[i * n + j] = s;
}
