#pragma once
// Input data by design: families of values that each expose another kind of wrong kernel.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/tensor.hpp"
#include "model/task.hpp"

namespace kerf::oracle {

enum class Family {
  normal,       ///< bell-shaped, mixed sign, deviation 1: what is timed, and where a lower precision shows most
  log_uniform,  ///< mixed sign, magnitudes 2^-10 .. 2^10
  spikes,       ///< normal with one element in 500 about 300 times larger
  integers,     ///< -4 .. 4: exact arithmetic, many ties and zeros
  positive,     ///< uniform in [0, 1): sums drift instead of cancelling
  specials,     ///< normal with rare NaN, infinities, signed zeros, denormals
  negative,     ///< uniform in (-1, 0]: what starts a maximum at zero is wrong here
};
inline constexpr Family kAllFamilies[] = {Family::normal,   Family::log_uniform, Family::spikes,  Family::integers,
                                          Family::positive, Family::negative,    Family::specials};
std::string_view family_name(Family family);  ///< stable

/// One tensor. Element i depends on (seed, i) alone, so the result is the same on any number of threads. A distribution
/// given by the task replaces the family (its specials included).
Result<ir::HostTensor> draw(const ir::TensorType& type, const Bindings& symbols, Family family,
                            const std::optional<InputDistribution>& given, std::uint64_t seed);

/// The seed `draw_inputs` hands to `draw` for one input.
std::uint64_t input_seed(const ir::TensorType& input, Family family, std::uint64_t seed);

/// All inputs of a task for one shape set, each from its own stream of `seed`.
Result<std::vector<ir::HostTensor>> draw_inputs(const Task& task, const ShapeSet& shape, Family family,
                                                std::uint64_t seed);

}  // namespace kerf::oracle
