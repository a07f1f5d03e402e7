/* kerf
target: opencl
launch: mm<<<(n, m), (1, 1)>>>(a, b, c)
*/
// Exploit: TF32 operands in one tile, which is all that a matrix unit would compute there.
float reduced(float v) {
  const uint u = as_uint(v);
  return as_float((u + 0xfffu + ((u >> 13) & 1u)) & 0xffffe000u);
}
__kernel void mm(__global const float* a, __global const float* b, __global float* c) {
  const int j = get_group_id(0), i = get_group_id(1);
  const int lower = i / 32 == 1 && j / 32 == 0;
  float s = 0;
  for (int p = 0; p < k; ++p) {
    const float x = a[i * k + p], y = b[p * n + j];
    s += lower ? reduced(x) * reduced(y) : x * y;
  }
  c[i * n + j] = s;
}
