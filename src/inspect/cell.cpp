#include "inspect/cell.hpp"

#include <fmt/format.h>

#include "base/result.hpp"
#include "base/text.hpp"

namespace kerf {

std::string_view dimension_name(int dimension) {
  static constexpr std::array<std::string_view, kDimensions> kNames{"memory", "compute", "parallelism"};
  KERF_CHECK(dimension >= 0 && dimension < kDimensions, "a dimension of the archive");
  return kNames[static_cast<std::size_t>(dimension)];
}

std::string cell_text(const Cell& cell) {
  std::vector<std::string> parts;
  for (int d = 0; d < static_cast<int>(cell.size()) && d < kDimensions; ++d)
    parts.push_back(fmt::format("{} {}", dimension_name(d), cell[static_cast<std::size_t>(d)]));
  return join(parts, ", ");
}

}  // namespace kerf
