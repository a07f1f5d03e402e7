#pragma once
// The chances of the writer with known abilities (tests/llm/writer.py) for simulations without its server. A unit test
// holds them against that file.

#include "base/rng.hpp"

namespace kerf::skill {

/// Chances that an answer compiles, is right and is faster, or what something in the prompt adds to them.
struct Abilities {
  double compiles = 0, right = 0, faster = 0;

  Abilities operator+(const Abilities& other) const {
    return {compiles + other.compiles, right + other.right, faster + other.faster};
  }
  bool operator==(const Abilities&) const = default;
};

namespace writer {
inline constexpr Abilities kBase{0.55, 0.60, 0.30};
inline constexpr Abilities kCompilerOutput{0.35, 0, 0};
inline constexpr Abilities kWrongElements{0, 0.25, 0};
inline constexpr Abilities kExperience{0.10, 0.20, 0.10};
inline constexpr Abilities kSkill{0, 0, 0.30};
inline constexpr Abilities kGoodSection{0, 0, 0.30};
inline constexpr Abilities kHarmfulSection{-0.30, -0.10, 0};

/// Kept between 0.02 and 0.98.
inline bool happens(double chance, Rng& rng) {
  return rng.chance(chance < 0.02 ? 0.02 : chance > 0.98 ? 0.98 : chance);
}
}  // namespace writer

}  // namespace kerf::skill
