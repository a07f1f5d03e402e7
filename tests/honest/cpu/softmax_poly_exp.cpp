/* kerf
target: cpu
*/
// Style: a vectorisable exp by Cody-Waite reduction and a polynomial of degree six: two units in the last place.
static inline float exp_f32(float v) {
  v = std::max(v, -103.0f);
  const float t = std::nearbyint(v * 1.44269504089f);
  const float f = (v - t * 0.693359375f) + t * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * f + 1.3981999507e-3f;
  p = p * f + 8.3334519073e-3f;
  p = p * f + 4.1665795894e-2f;
  p = p * f + 1.6666665459e-1f;
  p = p * f + 5.0000001201e-1f;
  p = p * f * f + f + 1;
  const int e = int(t), half = e / 2;  // two steps, so that results below the normal range are kept
  const std::int32_t one = (half + 127) << 23, two = (e - half + 127) << 23;
  float a, b;
  memcpy(&a, &one, 4);
  memcpy(&b, &two, 4);
  return p * a * b;
}
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    const float* in = x + long(r) * cols;
    float* out = y + long(r) * cols;
    float top = -INFINITY, part[16] = {}, s = 0;
    for (int c = 0; c < cols; ++c) top = std::max(top, in[c]);
    for (int c = 0; c < cols; ++c) out[c] = in[c] == in[c] ? exp_f32(in[c] - top) : in[c];
    for (int c = 0; c < cols; ++c) part[c % 16] += out[c];
    for (const float p : part) s += p;
    for (int c = 0; c < cols; ++c) out[c] /= s;
  }
}
