#pragma once
// Whether a kernel is faster than what it is compared with, beyond the noise. Everything that presents a winner asks
// here, so that none calls a slower kernel a success.

#include <span>
#include <string>
#include <string_view>

#include "model/evaluation.hpp"
#include "model/step.hpp"

namespace kerf {

enum class Standing {
  untimed,    ///< no figures
  faster,     ///< the whole 95 % interval lies above 1
  undecided,  ///< the interval holds 1
  slower,     ///< the whole interval lies below 1
};

Standing standing_of(const Speedup& speedup);

/// "untimed", "faster", "undecided", "slower"; in JSON.
std::string standing_name(Standing standing);

/// False when the naive kernel was tried and refused: then it is not offered where nothing faster was found.
bool naive_is_usable(std::span<const Step> steps, std::string_view source);

/// For people: "faster than naive", "not shown to be faster than naive", "slower than naive".
std::string standing_text(const Speedup& speedup);

}  // namespace kerf
