#pragma once
// For which shapes an exported function computes what its task says: read off the task's graph, not off its shape sets.

#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "model/task.hpp"

namespace kerf::exporting {

/// One thing that the shape symbols must fulfil. Later checks may rely on earlier ones (a divisor is checked before it
/// divides), so they are made in order.
struct DomainCheck {
  ir::Condition condition;
  std::string refusal;  ///< what is wrong when it does not hold: "rows must be at least 1"
};

/// A shape that fulfils it is one that `kerf check` accepts as a shape set of the task.
struct Domain {
  std::vector<DomainCheck> limits;     ///< of symbols and of the buffers' extents
  std::vector<DomainCheck> relations;  ///< what the graph relies on, once the buffers are not too large
};
Domain domain_of(const Task& task);

/// The largest extent, and the most bytes that all buffers may take: the limits of task files.
inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;
inline constexpr double kMaxBytes = 64.0 * (std::int64_t{1} << 30);

/// "" when the shape is in the domain, otherwise why not.
std::string refusal_of(const Task& task, const Bindings& symbols);

/// The same as statements of a C function over variables with the symbols' names that returns a text, or goes on when
/// the shape is in the domain.
std::string refusal_statements(const Task& task);

}  // namespace kerf::exporting
