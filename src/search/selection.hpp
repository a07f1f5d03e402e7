#pragma once
// Drawing parents and partners from an archive.

#include <cstdint>
#include <span>
#include <vector>

#include "archive/archive.hpp"
#include "base/rng.hpp"

namespace kerf {

/// An index drawn with probability proportional to exp(value / temperature); `values` is not empty.
std::size_t draw_softmax(std::span<const double> values, double temperature, Rng& rng);

/// A cell by tempered softmax on its best log speedup (now and then any cell), then one of its elites, the better the
/// likelier. Null while the archive is empty.
const Elite* draw_parent(const Archive& archive, Rng& rng);

/// Up to `count` other elites, from other cells first, the faster the likelier.
std::vector<std::int64_t> draw_partners(const Archive& archive, const Elite& parent, int count, Rng& rng);

}  // namespace kerf
