#include "oracle/reference.hpp"

#include <algorithm>
#include <atomic>

#include "base/memory.hpp"
#include "ir/interpret/interpreter.hpp"

namespace kerf::oracle {
namespace {

class GraphReference final : public Reference {
 public:
  GraphReference(ir::Graph bounded, bool free_nan) : bounded_(std::move(bounded)), nan_is_free_(free_nan) {}

  Result<DataSet> expect(const ShapeSet& shape, std::vector<ir::HostTensor> inputs) const override {
    ir::InterpretOptions options;
    options.max_bytes = std::min(options.max_bytes, available_memory_bytes());
    KERF_TRY(auto values, ir::interpret(bounded_, inputs, shape.symbols, options));
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
  ir::Graph bounded_;
  bool nan_is_free_;
};

}  // namespace

std::uint64_t next_data_id() {
  static std::atomic<std::uint64_t> next{1};  // an id generator: unique within the process is all it promises
  return next.fetch_add(1);
}

ir::ErrorModel error_model(Precision precision) {
  ir::ErrorModel model;
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
      if (op == ir::MapOp::minimum || op == ir::MapOp::maximum || op == ir::MapOp::select || op == ir::MapOp::is_nan ||
          ir::is_comparison(op))
        return true;
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
  std::vector<Bindings> shape_sets;
  for (const ShapeSet& shape : task.shapes) shape_sets.push_back(shape.symbols);
  KERF_TRY(ir::Graph bounded,
           ir::with_error_bounds(ir::simplify(*task.graph), error_model(task.precision), shape_sets));
  return std::make_unique<GraphReference>(ir::simplify(bounded), nan_is_free(*task.graph));
}

Result<DataSet> make_data(const Task& task, const Reference& reference, const ShapeSet& shape, const DataDraw& draw) {
  KERF_TRY(auto inputs, draw_inputs(task, shape, draw));
  KERF_TRY(DataSet data, reference.expect(shape, std::move(inputs)));
  data.distribution = pattern_name(draw.pattern);
  data.drawn = draw;
  return data;
}

}  // namespace kerf::oracle
