// Elementary functions in single precision, without branches and tables, so that loops over them vectorise. At most 2 units in
// the last place from the exact value over the whole range, with NaN, infinities and denormals as in the C library.
// Polynomials are minimax fits of the functions given beside them. C++ and OpenCL C (where `half` is a type) alike, after the
// dialect layer, which has KERF_FN, kerf_fma, kerf_bits_i, kerf_i_bits, kerf_magnitude and kerf_with_sign.

/// p * 2^n for -252 <= n <= 254, with one rounding, to denormals too.
KERF_FN float kerf_scale(float p, int n) {
  const int part = n >> 1;
  return p * kerf_i_bits((part + 127) << 23) * kerf_i_bits((n - part + 127) << 23);
}

KERF_FN float kerf_fast_exp(float x) {
  const float c = x > 90.0f ? 90.0f : (x < -106.0f ? -106.0f : x);  // a NaN passes
  const float shifted = kerf_fma(c, 0x1.715476p0f, 0x1.8p23f);       // its low bits are the nearest integer
  const float n = shifted - 0x1.8p23f;
  const float r = kerf_fma(n, 0x1.05c610p-29f, kerf_fma(n, -0x1.62e430p-1f, c));
  float q = 0x1.6a2256p-10f;  // (exp(r) - 1 - r) / r^2
  q = kerf_fma(q, r, 0x1.123b02p-7f);
  q = kerf_fma(q, r, 0x1.5558f8p-5f);
  q = kerf_fma(q, r, 0x1.555490p-3f);
  q = kerf_fma(q, r, 0x1.fffffcp-2f);
  const float p = kerf_fma(q * r, r, r) + 1.0f;
  return kerf_scale(p, kerf_bits_i(shifted) - 0x4b400000);
}

KERF_FN float kerf_fast_exp2(float x) {
  const float c = x > 130.0f ? 130.0f : (x < -152.0f ? -152.0f : x);
  const float shifted = c + 0x1.8p23f;
  const float r = c - (shifted - 0x1.8p23f);
  float q = 0x1.44912cp-13f;  // (2^r - 1) / r
  q = kerf_fma(q, r, 0x1.5f497ep-10f);
  q = kerf_fma(q, r, 0x1.3b29a8p-7f);
  q = kerf_fma(q, r, 0x1.c6aeccp-5f);
  q = kerf_fma(q, r, 0x1.ebfbe0p-3f);
  q = kerf_fma(q, r, 0x1.62e430p-1f);
  return kerf_scale(kerf_fma(q, r, 1.0f), kerf_bits_i(shifted) - 0x4b400000);
}

KERF_FN float kerf_fast_expm1(float x) {
  const float c = x > 89.0f ? 89.0f : (x < -20.0f ? -20.0f : x);
  const float shifted = kerf_fma(c, 0x1.715476p0f, 0x1.8p23f);
  const float n = shifted - 0x1.8p23f;
  const float r = kerf_fma(n, 0x1.05c610p-29f, kerf_fma(n, -0x1.62e430p-1f, c));
  float q = 0x1.a1a2b0p-13f;  // (exp(r) - 1 - r) / r^2
  q = kerf_fma(q, r, 0x1.6d75dcp-10f);
  q = kerf_fma(q, r, 0x1.11108ep-7f);
  q = kerf_fma(q, r, 0x1.5554acp-5f);
  q = kerf_fma(q, r, 0x1.555556p-3f);
  q = kerf_fma(q, r, 0.5f);
  const float p = kerf_fma(q * r, r, r);                                                // exp(r) - 1
  const float power = kerf_i_bits((kerf_bits_i(shifted) - 0x4b400000 + 126) << 23);  // 2^(n - 1)
  const float whole = 2.0f * kerf_fma(power, p, power - 0.5f);
  return n == 0.0f ? kerf_with_sign(p, x) : whole;
}

/// x = m * 2^e with m in [sqrt(1/2), sqrt(2)); gives m - 1. For positive finite x.
KERF_FN float kerf_split_log(float x, float* e) {
  const int small = x < 0x1p-126f;
  const float scaled = small ? x * 0x1p23f : x;
  const int offset = (int)((unsigned)kerf_bits_i(scaled) - 0x3f3504f3u);  // unsigned: other x must not overflow
  *e = (float)(offset >> 23) - (small ? 23.0f : 0.0f);
  return kerf_i_bits((offset & 0x7fffff) + 0x3f3504f3) - 1.0f;
}
/// log(1 + f) - f for f = m - 1 of kerf_split_log.
KERF_FN float kerf_log_tail(float f) {
  float q = 0x1.1b7aa6p-4f;  // (log(1 + f) - f + f^2 / 2) / f^3
  q = kerf_fma(q, f, -0x1.e34806p-4f);
  q = kerf_fma(q, f, 0x1.e669f2p-4f);
  q = kerf_fma(q, f, -0x1.fb35e2p-4f);
  q = kerf_fma(q, f, 0x1.233054p-3f);
  q = kerf_fma(q, f, -0x1.55632ap-3f);
  q = kerf_fma(q, f, 0x1.99a564p-3f);
  q = kerf_fma(q, f, -0x1.ffffeep-3f);
  q = kerf_fma(q, f, 0x1.555546p-2f);
  const float f2 = f * f;
  return kerf_fma(q * f, f2, -0.5f * f2);
}
/// What a logarithm is outside of the positive numbers, where `value` has no meaning.
KERF_FN float kerf_log_edges(float x, float value) {
  const float edge = x == 0.0f ? -KERF_INFINITY : (x > 0.0f ? x : KERF_NAN);
  return ((x > 0.0f) & (x < KERF_INFINITY)) ? value : edge;
}

KERF_FN float kerf_fast_log(float x) {
  float e;
  const float f = kerf_split_log(x, &e);
  const float value = kerf_fma(e, 0x1.62e400p-1f, f + kerf_fma(e, 0x1.7f7d1cp-20f, kerf_log_tail(f)));
  return kerf_log_edges(x, value);
}
KERF_FN float kerf_fast_log2(float x) {
  float e;
  const float f = kerf_split_log(x, &e);
  const float tail = kerf_fma(f, 0x1.4ae0bep-26f, kerf_log_tail(f) * 0x1.715476p0f);
  return kerf_log_edges(x, e + kerf_fma(f, 0x1.715476p0f, tail));
}
KERF_FN float kerf_fast_log1p(float x) {
  const float u = 1.0f + x, back = u - 1.0f;
  const float lost = (1.0f - (u - back)) + (x - back);  // exactly 1 + x - u
  float e;
  const float f = kerf_split_log(u, &e);
  const float value = kerf_fma(e, 0x1.62e400p-1f, f + kerf_fma(e, 0x1.7f7d1cp-20f, kerf_log_tail(f) + lost / u));
  return x == 0.0f ? x : kerf_log_edges(u, value);
}

KERF_FN float kerf_fast_tanh(float x) {
  const float a = kerf_magnitude(x), z = x * x;
  float q = 0x1.200af6p-9f;  // (tanh(x) / x - 1) / x^2, for |x| < 0.6
  q = kerf_fma(q, z, -0x1.0dd086p-7f);
  q = kerf_fma(q, z, 0x1.63e684p-6f);
  q = kerf_fma(q, z, -0x1.b9f66ep-5f);
  q = kerf_fma(q, z, 0x1.11108cp-3f);
  q = kerf_fma(q, z, -0x1.555554p-2f);
  const float near = kerf_fma(q * z, a, a);
  const float far = 1.0f - 2.0f / (kerf_fast_exp(2.0f * a) + 1.0f);
  return kerf_with_sign(a < 0.6f ? near : far, x);
}
KERF_FN float kerf_fast_sigmoid(float x) {
  const float t = kerf_fast_exp(-kerf_magnitude(x));
  const float share = t / (1.0f + t), whole = x < 0.0f ? t : 1.0f;
  return kerf_fma(-whole, share, whole);  // whole / (1 + t), with a smaller error than the quotient
}
/// erf(a) = 1 - exp(-a q(a)) for a = |x|; beyond 3.95 it is 1.
KERF_FN float kerf_fast_erf(float x) {
  const float given = kerf_magnitude(x), a = given > 3.95f ? 3.95f : given;
  float q = -0x1.3696fap-17f;  // (-log(1 - erf(a)) / a - 2 / sqrt(pi)) / a
  q = kerf_fma(q, a, 0x1.ed6ca2p-14f);
  q = kerf_fma(q, a, -0x1.4bca0cp-11f);
  q = kerf_fma(q, a, 0x1.b5006cp-10f);
  q = kerf_fma(q, a, -0x1.5060bep-13f);
  q = kerf_fma(q, a, -0x1.39cdc6p-6f);
  q = kerf_fma(q, a, 0x1.a4fa5ep-4f);
  q = kerf_fma(q, a, 0x1.45f2fap-1f);
  q = kerf_fma(q, a, -0x1.f7ac92p-25f);  // what 2 / sqrt(pi) loses in the next line
  const float y = -kerf_fma(a, 0x1.20dd76p0f, q * a);
  const float shifted = kerf_fma(y, 0x1.715476p0f, 0x1.8p23f);
  const float n = shifted - 0x1.8p23f;
  const float r = kerf_fma(n, 0x1.05c610p-29f, kerf_fma(n, -0x1.62e430p-1f, y));
  float e = 0x1.a1a2b0p-13f;  // (exp(r) - 1 - r) / r^2
  e = kerf_fma(e, r, 0x1.6d75dcp-10f);
  e = kerf_fma(e, r, 0x1.11108ep-7f);
  e = kerf_fma(e, r, 0x1.5554acp-5f);
  e = kerf_fma(e, r, 0x1.555556p-3f);
  e = kerf_fma(e, r, 0.5f);
  const float p = kerf_fma(e * r, r, r);
  const float scale = kerf_i_bits((int)(((unsigned)kerf_bits_i(shifted) + 127u) << 23));  // unsigned: other x must not overflow
  return kerf_with_sign(kerf_fma(scale, p, scale - 1.0f), x);
}
