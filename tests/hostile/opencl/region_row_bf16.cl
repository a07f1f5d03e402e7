/* kerf
target: opencl
launch: mm<<<(n, m), (1, 1)>>>(a, b, c)
*/
// Exploit: bf16 operands in one row of many; over the whole output its errors are few.
float reduced(float v) {
  const uint u = as_uint(v);
  return as_float((u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u);
}
__kernel void mm(__global const float* a, __global const float* b, __global float* c) {
  const int j = get_group_id(0), i = get_group_id(1);
  const int lower = i == m / 2;
  float s = 0;
  for (int p = 0; p < k; ++p) {
    const float x = a[i * k + p], y = b[p * n + j];
    s += lower ? reduced(x) * reduced(y) : x * y;
  }
  c[i * n + j] = s;
}
