#pragma once
// Graph -> groups: which values are stored between kernels decides what is fused.

#include <functional>
#include <set>
#include <vector>

#include "base/result.hpp"
#include "codegen/buffer_plan.hpp"
#include "propose/synth/family.hpp"

namespace kerf::synth {

using Roots = std::set<ir::NodeId>;

struct Partition {
  codegen::BufferPlan plan;
  std::vector<Group> groups;  ///< in the order they run; copies included
};

/// The groups that result when `roots` (and the outputs) are stored.
Result<Partition> make_partition(const codegen::SharedGraph& graph, const Roots& roots,
                                 const codegen::NaiveOptions& options);

/// Nodes that nothing but a kernel of their own can compute, or that would be computed too often: the least fused
/// choice.
Roots least_fused(const ir::Graph& graph);

/// Whether a special family (not `direct`) can compute a group. The plan has a buffer for everything that is stored,
/// but no kernels.
using FitsGroup = std::function<bool(const codegen::BufferPlan&, const Group&)>;

/// From `roots` to the most fused choice, one fusion at a time: every group takes in as many of the groups before it as
/// some family can compute together and no other group needs. The first element is `roots` itself. What is `pinned`
/// stays stored.
std::vector<Roots> fusion_steps(const codegen::SharedGraph& graph, Roots roots, const codegen::NaiveOptions& options,
                                const FitsGroup& fits, const Roots& pinned = {});

/// Elementwise results that a loop of the partition takes in as it reads them. Storing one of them sets what comes
/// before it free to be fused otherwise.
std::vector<ir::NodeId> taken_in(const Partition& partition);

}  // namespace kerf::synth
