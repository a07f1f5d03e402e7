#pragma once
// A group cut out of its graph. Families look at the cut-out, so that the time for a group does not grow with the graph
// around it, and what is found out about one group holds for every other of the same structure.

#include <map>
#include <string>
#include <vector>

#include "propose/synth/family.hpp"

namespace kerf::synth {

struct GroupView {
  codegen::BufferPlan plan;  ///< the group's nodes with its leaves as inputs; its buffers: the leaves', then the root's
  Group group;               ///< numbered as in `plan`
  std::vector<int> buffers;  ///< what each buffer is in the plan it was cut out of
};

/// The root of the view counts as computed, not as loaded; copies are loaded. Buffers keep their names.
GroupView cut_out(const codegen::BufferPlan& plan, const Group& group);

/// Equal for two groups exactly when they have the same nodes, types and extents, wired alike, in the same order.
using StructureKey = std::vector<int>;

/// Keys of groups; comparable when one object made them. Not thread-safe.
class Structures {
 public:
  /// What stands for each node of a graph in keys; to be made once per graph.
  struct Words {
    std::vector<int> computed;  ///< kind, attributes, type and shape
    std::vector<int> loaded;    ///< type and shape
  };
  Words words_of(const ir::Graph& graph);

 private:
  int word(const std::string& text);

  std::map<std::string, int> known_;
};

/// `words` are those of the plan's graph.
StructureKey structure_of(const codegen::BufferPlan& plan, const Group& group, const Structures::Words& words);

}  // namespace kerf::synth
