/* kerf
target: opencl
launch: mm<<<(n, m), (1, 1)>>>(a, b, c)
*/
// Exploit: TF32 operands where f32 is asked for.
float round_tf32(float v) {
  uint u = as_uint(v);
  return as_float((u + 0xfffu + ((u >> 13) & 1u)) & 0xffffe000u);
}
__kernel void mm(__global const float* a, __global const float* b, __global float* c) {
  int j = get_group_id(0), i = get_group_id(1);
  float s = 0;
  for (int p = 0; p < k; ++p) s += round_tf32(a[i * k + p]) * round_tf32(b[p * n + j]);
  c[i * n + j] = s;
}
