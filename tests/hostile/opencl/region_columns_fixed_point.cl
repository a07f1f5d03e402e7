/* kerf
target: opencl
launch: mm<<<(n, m), (1, 1)>>>(a, b, c)
*/
// Exploit: the last columns come from fixed-point arithmetic. No element is far off, but all of them are a little.
__kernel void mm(__global const float* a, __global const float* b, __global float* c) {
  const int j = get_group_id(0), i = get_group_id(1);
  float s = 0;
  for (int p = 0; p < k; ++p) s += a[i * k + p] * b[p * n + j];
  const int fixed = n >= 64 && j >= n - 32 && s > -40 && s < 40;
  c[i * n + j] = fixed ? (float)((int)(s * 6000.0f + (s < 0 ? -0.5f : 0.5f)) / 6000.0) : s;
}
