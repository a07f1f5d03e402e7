/* kerf
target: opencl
launch: mm<<<(n, m), (1, 1)>>>(a, b, c)
*/
// Sparse by value: 0 times NaN is NaN.
__kernel void mm(__global const float* a, __global const float* b, __global float* c) {
  int j = get_group_id(0), i = get_group_id(1);
  float s = 0;
  for (int p = 0; p < k; ++p)
    if (a[i * k + p] != 0) s += a[i * k + p] * b[p * n + j];
  c[i * n + j] = s;
}
