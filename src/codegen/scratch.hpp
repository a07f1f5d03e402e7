#pragma once
// Lets nodes that are not alive at the same time share scratch memory.

#include "codegen/buffer_plan.hpp"

namespace kerf::codegen {

/// Replaces the plan's scratch buffers by as few as their lifetimes allow. A buffer is shared between nodes of one type
/// and element count; when many are needed, also between sizes, as one flat buffer of the largest.
void share_scratch(BufferPlan& plan);

}  // namespace kerf::codegen
