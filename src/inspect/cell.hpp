#pragma once
// Behaviour cells: the coordinates of the archive. docs/descriptors.md says what the levels mean.

#include <string>
#include <string_view>
#include <vector>

namespace kerf {

/// Level (0..3) per behaviour dimension, in the order of `dimension_names`.
using Cell = std::vector<int>;
inline constexpr int kDimensions = 3;
inline constexpr int kLevels = 4;
std::string_view dimension_name(int dimension);  ///< "memory", "compute", "parallelism"; stored
std::string cell_text(const Cell& cell);         ///< "memory 1, compute 0, parallelism 2"

}  // namespace kerf
