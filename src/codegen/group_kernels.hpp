#pragma once
// Kernels of one node whose work-groups work together: tiled products, reductions in pieces, block scans; for tensors
// on which one work item per element is slow. In double precision the order of the terms is free. In single precision
// sums keep the form of the plain kernels (naive.hpp): running sums over pieces of kPiece terms, added up one after
// another, so that what they lose says the same about honest kernels.

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/lowering.hpp"

namespace kerf::codegen {

inline constexpr int kGroupThreads = 256;
inline constexpr int kPiece = 512;  ///< terms of a single-precision sum that are added up by themselves

/// One launch, of `groups` work-groups with kGroupThreads work items each.
struct GroupLaunch {
  std::string body;  ///< the kernel's lines
  Uses uses;
  std::int64_t groups = 1;
  bool reads_partials = false, writes_partials = false;  ///< of the buffer of partial sums, in the compute type
};

struct GroupKernels {
  std::vector<GroupLaunch> launches;  ///< empty: the plain kernel does as well, or the node has no such form
  std::int64_t partials = 0;          ///< elements that the buffer of partial sums must have
};

/// For `options.shape`, whose extents decide about tiles and chunks; `partials` is the parameter's name of the buffer
/// of partial sums.
GroupKernels group_kernels(const BufferPlan& plan, const KernelPlan& kernel, const DialectTraits& dialect,
                           const NaiveOptions& options, const std::string& partials);

}  // namespace kerf::codegen
