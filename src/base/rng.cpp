#include "base/rng.hpp"

#include <cmath>

#include "base/hash.hpp"

namespace kerf {

Rng::Rng(std::uint64_t seed) : seed_(seed) {
  std::uint64_t s = seed;
  for (auto& word : state_) word = mix64(s += 0x9e3779b97f4a7c15ULL);
}

std::uint64_t Rng::bits() {
  const auto rotl = [](std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); };
  const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = rotl(state_[3], 45);
  return result;
}

double Rng::uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

double Rng::normal() {
  const double u = 1.0 - uniform();  // (0, 1]: the logarithm stays finite
  const double v = uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
}

std::int64_t Rng::integer(std::int64_t low, std::int64_t high) {
  const auto span = static_cast<std::uint64_t>(high - low) + 1;
  if (span == 0) return static_cast<std::int64_t>(bits());
  return low + static_cast<std::int64_t>(bits() % span);
}

Rng Rng::fork(std::string_view label) const { return Rng(mix64(seed_) ^ hash64(label)); }

}  // namespace kerf
