#pragma once
// Which nodes of a graph get a buffer, and which kernels fill them. Independent of the language.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "codegen/naive.hpp"
#include "ir/graph.hpp"

namespace kerf::codegen {

enum class BufferRole { input, output, scratch };

struct Buffer {
  BufferRole role = BufferRole::input;
  std::string name;       ///< in the header: the task's name, or one of ours for scratch
  std::string parameter;  ///< in the code; collides with no shape symbol
  DType dtype = DType::f32;
  Shape shape;
};

/// One kernel: computes `node` for every element and stores it in `buffer`.
struct KernelPlan {
  ir::NodeId node = 0;
  int buffer = 0;
  bool copy = false;  ///< `node` is in another buffer already: convert and copy it
};

/// A graph that does not change and that copies share, so that plans of a large one stay small.
class SharedGraph {
 public:
  SharedGraph() : SharedGraph(ir::Graph{}) {}
  SharedGraph(ir::Graph graph)  // NOLINT: a graph is one that can be shared
      : graph_(std::make_shared<const ir::Graph>(std::move(graph))) {}

  operator const ir::Graph&() const { return *graph_; }  // NOLINT: read like any graph
  const ir::Graph* operator->() const { return graph_.get(); }
  const ir::Node& operator[](ir::NodeId id) const { return (*graph_)[id]; }

 private:
  std::shared_ptr<const ir::Graph> graph_;  // shared because every plan of the graph reads it
};

using SharedNames = std::shared_ptr<const std::set<std::string>>;  ///< shared like the graph they belong to; not null

struct BufferPlan {
  SharedGraph graph;            ///< simplified; reductions over several axes are one after the other
  std::vector<Buffer> buffers;  ///< inputs, outputs, scratch
  std::vector<int> location;    ///< per node: the buffer to read it from, or -1 when it is inlined into its consumers
  std::vector<KernelPlan> kernels;
  std::map<std::string, std::string> symbols;  ///< shape symbol -> its name as a 64-bit value in the code
  SharedNames names = std::make_shared<const std::set<std::string>>();  ///< every name above; locals must differ
};

Result<BufferPlan> make_buffer_plan(const ir::Graph& graph, const NaiveOptions& options);

/// The plan for a choice of stored nodes. `graph` is taken as it is; outputs count as stored.
Result<BufferPlan> make_buffer_plan(SharedGraph graph, const std::vector<bool>& stored, const NaiveOptions& options);

/// The nodes that `make_buffer_plan` would store: whatever cannot be inlined, or would be computed too often.
std::vector<bool> stored_by_default(const ir::Graph& graph);

/// Nodes that are loops of their own (reductions, contractions, ...), not elementwise.
bool is_anchor(const ir::Node& node);

/// Type of a node's value in a scratch buffer: the compute type, i64 or bool.
DType value_type(const ir::Node& node, const NaiveOptions& options);

}  // namespace kerf::codegen
