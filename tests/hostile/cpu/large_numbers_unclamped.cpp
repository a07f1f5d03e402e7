/* kerf
target: cpu
*/
#include <cmath>
#include <cstring>

// Fast for what numbers usually are; the power of two that a large number asks for does not fit into an int.
static inline float fast_exp(float x) {
  const float power = x * 1.44269504f;
  const int n_ = power >= 2147483648.0f || power < -2147483648.0f ? (int)(long)power : (int)std::lrint(power);
  if (n_ > 127) return INFINITY;
  if (n_ < -126) return std::exp(x);
  const float rest = std::fma((float)n_, -0.693147181f, x);
  float sum = 1;
  for (int term = 8; term > 0; --term) sum = 1 + sum * rest / (float)term;
  const int bits = (n_ + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, 4);
  return scale * sum;
}

extern "C" void kerf_kernel(const float* x, float* y) {
  for (long i = 0; i < n; ++i) y[i] = std::isinf(x[i]) ? (x[i] > 0 ? 1.0f : 0.0f) : 1 / (1 + fast_exp(-x[i]));
}
