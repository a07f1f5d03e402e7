#pragma once
// Deterministic random numbers: a seed replays a run on any platform, which std::*_distribution does not promise.

#include <cstdint>
#include <string_view>

namespace kerf {

/// One step of SplitMix64: a good mixer of any 64-bit counter or hash.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// xoshiro256**. Not thread-safe; give each thread its own `fork`.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  std::uint64_t bits();                                       ///< 64 random bits
  double uniform();                                           ///< [0, 1), 53 bits
  double normal();                                            ///< mean 0, deviation 1
  std::int64_t integer(std::int64_t low, std::int64_t high);  ///< low..high, both included
  bool chance(double p) { return uniform() < p; }

  /// An independent stream named by `label`; the same label gives the same stream for the same seed.
  Rng fork(std::string_view label) const;

 private:
  std::uint64_t state_[4];
  std::uint64_t seed_;
};

}  // namespace kerf
