/* kerf
target:  opencl
launch:  gelu_k<<<ceil_div(n, 64), 64>>>(x, y)
*/
// Style: many built-in functions: integer, bit, conversion, geometric and common ones.
__kernel void gelu_k(__global const float* x, __global float* y) {
  int i = min((int)get_global_id(0), (int)(n - 1));
  float v = x[i];
  uint bits = as_uint(v);
  int same = (int)(popcount(bits) - popcount(rotate(bits, 3u)));
  float4 four = (float4)(v, fabs(v), copysign(1.0f, v), fmax(v, 0.0f));
  float zero = (float)(same + abs(same) + (int)mul_hi(0u, bits) + (int)clz(0xFFFFFFFFu) + convert_int_sat(0.0f));
  y[i] = fma(0.5f * four.x, erf(four.x * 0.70710678118654752f), 0.5f * four.x) + zero;
}
