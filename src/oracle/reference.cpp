#include "oracle/reference.hpp"

#include <algorithm>
#include <atomic>

#include "base/hash.hpp"
#include "base/memory.hpp"
#include "ir/interpret/interpreter.hpp"
#include "oracle/error_walk.hpp"
#include "oracle/footprint.hpp"

namespace kerf::oracle {
namespace {

/// y0, y0!bound, y1, ... without the bounds: the same values by the same operations.
ir::Graph without_bounds(ir::Graph bounded) {
  std::vector<ir::NamedNode> outputs;
  for (std::size_t i = 0; i < bounded.outputs.size(); i += 2) outputs.push_back(bounded.outputs[i]);
  bounded.outputs = std::move(outputs);
  return ir::simplify(bounded);
}

ir::InterpretOptions within_memory() {
  ir::InterpretOptions options;
  options.max_bytes = std::min(options.max_bytes, available_memory_bytes());
  return options;
}

class GraphReference final : public Reference {
 public:
  GraphReference(ir::Graph bounded, bool free_nan, bool walk)
      : bounded_(std::move(bounded)), values_(without_bounds(bounded_)), nan_is_free_(free_nan), walk_(walk) {}

  bool errors_walk() const override { return walk_; }

  Result<std::vector<ir::HostTensor>> answer(const ShapeSet& shape, std::vector<ir::HostTensor> inputs) const override {
    return ir::interpret(values_, inputs, shape.symbols, within_memory());
  }

  Result<DataSet> expect(const ShapeSet& shape, std::vector<ir::HostTensor> inputs) const override {
    KERF_TRY(auto values, ir::interpret(bounded_, inputs, shape.symbols, within_memory()));
    DataSet data;
    data.id = next_data_id();
    data.shape = shape.name;
    data.inputs = std::move(inputs);
    data.nan_is_free = nan_is_free_;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {  // y0, y0!bound, y1, ...
      data.expected.push_back(std::move(values[i]));
      data.bound.push_back(std::move(values[i + 1]));
    }
    return data;
  }

 private:
  ir::Graph bounded_, values_;
  bool nan_is_free_, walk_;
};

Result<std::unique_ptr<Reference>> graph_reference(const Task& task, bool walk) {
  std::vector<Bindings> shape_sets;
  for (const ShapeSet& shape : task.shapes) shape_sets.push_back(shape.symbols);
  KERF_TRY(ir::Graph bounded,
           ir::with_error_bounds(ir::simplify(*task.graph), error_model(task.precision, walk), shape_sets));
  return std::make_unique<GraphReference>(ir::simplify(bounded), nan_is_free(*task.graph), walk);
}

/// What the decision looks at; fails where the data does not fit into memory, too.
Result<std::vector<bool>> silence_of(const Task& task, const Reference& reference) {
  const ShapeSet& smallest = *std::ranges::min_element(task.shapes, [&](const ShapeSet& a, const ShapeSet& b) {
    return element_count(task, a) < element_count(task, b);
  });
  KERF_TRY_VOID(check_memory(task, smallest, available_memory_bytes()));
  KERF_TRY(const DataSet data, make_data(task, reference, smallest, {Pattern::normal, hash64(task.id + " errors")}));
  return silent_outputs(task, data);
}

}  // namespace

Result<std::vector<ir::HostTensor>> Reference::answer(const ShapeSet& shape, std::vector<ir::HostTensor> inputs) const {
  KERF_TRY(DataSet data, expect(shape, std::move(inputs)));
  return std::move(data.expected);
}

std::uint64_t next_data_id() {
  static std::atomic<std::uint64_t> next{1};  // an id generator: unique within the process is all it promises
  return next.fetch_add(1);
}

ir::ErrorModel error_model(Precision precision, bool walk) {
  ir::ErrorModel model;
  model.walk = walk;
  switch (precision) {
    case Precision::f32: break;
    case Precision::tf32: model.operand = 0x1.0p-11; break;
    case Precision::f64:
      model.rounding = model.accumulate = 0x1.0p-53;
      model.tiny = 0x1.0p-1022;
      break;
    // Storage in 16 bits, sums in f32: the usual contract of mixed precision.
    case Precision::f16:
      model.rounding = model.operand = 0x1.0p-11;
      model.tiny = 0x1.0p-24;
      break;
    case Precision::bf16: model.rounding = model.operand = 0x1.0p-8; break;
  }
  return model;
}

bool nan_is_free(const ir::Graph& graph) {
  for (const ir::Node& node : graph.nodes) {
    if (ir::is<ir::MapAttr>(node)) {
      const ir::MapOp op = ir::attr<ir::MapAttr>(node).op;
      if (ir::facts_of(op).drops_nan || ir::is_comparison(op)) return true;
    }
    if (ir::is<ir::ReduceAttr>(node)) {
      const ir::ReduceOp op = ir::attr<ir::ReduceAttr>(node).op;
      if (op != ir::ReduceOp::sum && op != ir::ReduceOp::prod) return true;
    }
    if (ir::is<ir::TopAttr>(node)) return true;
    if (ir::is<ir::PoolAttr>(node) || ir::is<ir::AdaptivePoolAttr>(node)) return true;
  }
  return false;
}

Result<std::unique_ptr<Reference>> make_graph_reference(const Task& task) {
  KERF_CHECK(task.graph.has_value(), "a graph reference needs a graph");
  KERF_TRY(auto worst_case, graph_reference(task, false));
  if (task.shapes.empty() || summing_depth(*task.graph) < kDeep) return worst_case;
  // What keeps the data from being made is reported by who wants some; it decides nothing here.
  const auto before = silence_of(task, *worst_case);
  if (!before || std::ranges::none_of(*before, std::identity{})) return worst_case;
  KERF_TRY(auto walk, graph_reference(task, true));
  const auto after = silence_of(task, *walk);
  for (std::size_t k = 0; after && k < before->size(); ++k)
    if ((*before)[k] && !(*after)[k]) return walk;
  return worst_case;  // a jump, a division by zero: no matter of depth
}

Result<DataSet> make_data(const Task& task, const Reference& reference, const ShapeSet& shape, const DataDraw& draw) {
  KERF_TRY(auto inputs, draw_inputs(task, shape, draw));
  KERF_TRY(DataSet data, reference.expect(shape, std::move(inputs)));
  data.distribution = pattern_name(draw.pattern);
  data.drawn = draw;
  return data;
}

}  // namespace kerf::oracle
