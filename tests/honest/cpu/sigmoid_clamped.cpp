/* kerf
target: cpu
*/
#include <algorithm>
#include <cmath>
#include <cstring>

static inline float fast_exp(float x) {
  const float clamped = std::min(std::max(x, -87.0f), 88.0f);
  const int power = (int)std::lrint(clamped * 1.44269504f);
  const float rest = std::fma((float)power, 2.12194440e-4f, std::fma((float)power, -0.693359375f, clamped));
  float sum = 1;
  for (int term = 8; term > 0; --term) sum = 1 + sum * rest / (float)term;
  const int bits = (power + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, 4);
  return x != x ? x : scale * sum;
}

extern "C" void kerf_kernel(const float* x, float* y) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) y[i] = x[i] < -87.0f ? std::exp(x[i]) : 1 / (1 + fast_exp(-x[i]));
}
