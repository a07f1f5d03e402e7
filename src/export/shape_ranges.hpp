#pragma once
// Shapes that an export is compiled for beside the task's own shape sets.

#include <string_view>
#include <vector>

#include "export/export.hpp"

namespace kerf::exporting {

/// The most shapes that one export is compiled for: each is an instantiation of the whole kernel.
inline constexpr std::size_t kMaxInstances = 64;

/// "rows=64..256:64,cols=1024" as shape sets: every combination of the values, named after them ("rows64_cols1024"). A
/// range includes its ends and counts by 1 unless it says otherwise. Every symbol of the task has a value; shapes that
/// the task has already are left out, shapes outside of its domain are an error.
Result<std::vector<ShapeSet>> parse_shapes(std::string_view text, const Task& task);

/// Values of the tunables for one more shape: those of the nearest shape set (by the ratio of extents) with which the
/// kernel's requirements hold there. An error names the shape when there are none.
Result<Bindings> tunables_for(const Winner& winner, const ShapeSet& shape);

}  // namespace kerf::exporting
