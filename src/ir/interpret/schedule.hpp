#pragma once
// What is computed together, what is written to memory, in which order, and when memory is free again.

#include <variant>
#include <vector>

#include "base/result.hpp"
#include "ir/interpret/program.hpp"

namespace kerf::ir::eval {

/// A tensor seen as [outer, reduce, inner], reduced over the middle.
struct Split {
  std::int64_t outer = 1, reduce = 1, inner = 1;
  friend bool operator==(const Split&, const Split&) = default;
};

/// A reduce node whose operand is a result of the region's program.
struct Reduction {
  NodeId node = 0;
  ReduceOp op = ReduceOp::sum;
  bool floating = false;     ///< class of the operand's lanes
  std::vector<Split> later;  ///< axes that are not adjacent are reduced group by group, these after the region
};

/// One pass over `count` positions; all reductions share its split.
struct RegionStep {
  std::int64_t count = 0;
  Split split;
  Program program;
  std::vector<Reduction> reductions;  ///< one per Program::results
};

/// A node that is computed on its own: concat, gather, top, scan, contract, conv, pool.
struct NodeStep {
  NodeId node = 0;
};

struct Step {
  std::variant<RegionStep, NodeStep> work;
  std::vector<NodeId> produces;
  std::vector<NodeId> releases;  ///< nobody needs these values after this step
};

struct Schedule {
  std::vector<NodeFacts> facts;  ///< per node; empty facts for nodes that no output needs
  std::vector<NodeId> base;      ///< per node: the node whose buffer holds its elements (itself, or through aliases)
  std::vector<Step> steps;
};

Result<Schedule> make_schedule(const Graph& graph, const Bindings& bindings);

/// The operand of a contraction without its affine views, which the contraction reads through.
NodeId strided_base(const Graph& graph, const std::vector<NodeFacts>& facts, NodeId node);

}  // namespace kerf::ir::eval
