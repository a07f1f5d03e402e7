#include "propose/synth/families/row_program.hpp"

#include <algorithm>
#include <cmath>

namespace kerf::synth {
namespace {

using ir::attr;
using ir::is;
using ir::MapOp;
using ir::NodeId;

/// The number a node stands for, if it is made of extents and whole constants only.
std::optional<Dim> number(const ir::Graph& graph, NodeId id) {
  const ir::Node& n = graph[id];
  if (is<ir::ConstantAttr>(n)) {
    const double value = attr<ir::ConstantAttr>(n).value;
    if (value != std::floor(value) || std::abs(value) > 1e15) return {};
    return Dim(static_cast<std::int64_t>(value));
  }
  if (is<ir::ViewAttr>(n) && n.shape.empty() && is<ir::IotaAttr>(graph[n.args[0]]) &&
      graph[n.args[0]].shape.size() == 1 && !attr<ir::ViewAttr>(n).axes[0].modulo)
    return attr<ir::ViewAttr>(n).axes[0].offset;
  if (!is<ir::MapAttr>(n)) return {};
  const MapOp op = attr<ir::MapAttr>(n).op;
  if (op == MapOp::cast) return number(graph, n.args[0]);
  if (op != MapOp::mul) return {};
  const auto a = number(graph, n.args[0]), b = number(graph, n.args[1]);
  return a && b ? std::optional<Dim>(*a * *b) : std::nullopt;
}
bool is_map(const codegen::BufferPlan& plan, NodeId id, MapOp op) {
  const ir::Node& node = plan.graph[id];
  return plan.location[static_cast<std::size_t>(id)] < 0 && is<ir::MapAttr>(node) && attr<ir::MapAttr>(node).op == op;
}
bool sums(const ir::Node& node) { return attr<ir::ReduceAttr>(node).op == ir::ReduceOp::sum && is_float(node.dtype); }

Dim column_count(const RowProgram& program) {
  Dim cols = 1;
  for (std::size_t d = 0; d < program.domain.shape.size(); ++d)
    if (program.domain.reduced[d]) cols = cols * program.domain.shape[d];
  return cols;
}

}  // namespace

Pair pair_from(const RowProgram& program, const codegen::BufferPlan& plan, std::size_t k) {
  if (k + 1 >= program.reduces.size()) return Pair::none;
  const ir::Graph& graph = plan.graph;
  const NodeId one = program.reduces[k], two = program.reduces[k + 1];
  const NodeId x = graph[one].args[0], term = graph[two].args[0];
  if (!sums(graph[two]) || !is_float(graph[x].dtype)) return Pair::none;
  const auto is_difference = [&](NodeId id) { return is_map(plan, id, MapOp::sub) && graph[id].args[0] == x; };
  if (attr<ir::ReduceAttr>(graph[one]).op == ir::ReduceOp::max && is_map(plan, term, MapOp::exp)) {
    const NodeId below = graph[term].args[0];
    return is_difference(below) && graph[below].args[1] == one ? Pair::online : Pair::none;
  }
  if (!sums(graph[one]) || !is_map(plan, term, MapOp::mul) || graph[term].args[0] != graph[term].args[1])
    return Pair::none;
  const NodeId off = graph[term].args[0];
  if (!is_difference(off)) return Pair::none;
  const NodeId mean = graph[off].args[1];
  if (!is_map(plan, mean, MapOp::div) || graph[mean].args[0] != one) return Pair::none;
  const auto count = number(graph, graph[mean].args[1]);
  return count && *count == column_count(program) ? Pair::moments : Pair::none;
}

std::optional<RowProgram> row_program(const codegen::BufferPlan& plan, const Group& group) {
  if (group.copy || group.anchors.empty()) return {};
  for (const NodeId id : group.anchors)
    if (!is<ir::ReduceAttr>(plan.graph[id])) return {};
  const ir::Node& first = plan.graph[group.anchors.front()];
  RowProgram program;
  program.domain.shape = plan.graph[first.args[0]].shape;
  program.domain.reduced.assign(program.domain.shape.size(), false);
  for (const int axis : attr<ir::ReduceAttr>(first).axes) program.domain.reduced[static_cast<std::size_t>(axis)] = true;
  if (attr<ir::ReduceAttr>(first).axes.empty()) return {};
  Places places(plan, program.domain);
  if (!places.follow(group.root)) return {};
  program.reduces = group.anchors;
  std::sort(program.reduces.begin(), program.reduces.end());
  for (const NodeId id : program.reduces)
    if (places.only(id) == nullptr) return {};
  const Place* root = places.only(group.root);
  if (root == nullptr) return {};
  program.per_element = root->whole && !root->kept;
  for (const int axis : true_axes(program.domain.shape))
    program.fast_columns = program.domain.reduced[static_cast<std::size_t>(axis)];
  if (true_axes(program.domain.shape).empty()) program.fast_columns = true;
  return program;
}

void shorten_run(RowProgram& program, const Group& group, const codegen::BufferPlan& plan,
                 const std::vector<ShapeSet>& shapes) {
  const std::vector<bool> fast = program.fast_axes();
  if (!program.fast_columns || !program.per_element || fast != program.domain.reduced) return;
  Places places(plan, program.domain);
  places.follow(group.root);
  const Shape& shape = plan.graph[group.root].shape;
  std::size_t after = 0;  // the axis after the last one that an operand of fewer axes depends on
  for (const NodeId id : group.members) {
    if (!is<ir::MapAttr>(plan.graph[id]) || !(plan.graph[id].shape == shape)) continue;
    for (const NodeId arg : plan.graph[id].args) {
      const Shape& own = plan.graph[arg].shape;
      const Place* place = places.only(arg);
      if (place == nullptr || place->whole) continue;
      if (std::none_of(place->axes.begin(), place->axes.end(), [](int a) { return a == Place::kUnknown; })) continue;
      after = std::max(after, static_cast<std::size_t>(true_axes(own).back()) + shape.size() - own.size() + 1);
    }
  }
  if (after == 0) return;
  const Dim run = element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(after), shape.end()));
  const Dim cols = column_count(program);
  for (const ShapeSet& set : shapes) {
    const auto c = cols.evaluate(set.symbols), r = run.evaluate(set.symbols);
    if (!c || !r || *r <= 1 || *c % *r != 0) return;
  }
  program.run = run;
  program.run_axis = after;
}

std::optional<RowProgram> scan_program(const codegen::BufferPlan& plan, const Group& group) {
  if (group.copy || group.anchors.size() != 1 || !is<ir::ScanAttr>(plan.graph[group.anchors[0]])) return {};
  const ir::Node& scan = plan.graph[group.anchors[0]];
  RowProgram program;
  program.domain.shape = scan.shape;
  program.domain.reduced.assign(scan.shape.size(), false);
  const auto axis = static_cast<std::size_t>(attr<ir::ScanAttr>(scan).axis);
  program.domain.reduced[axis] = true;
  Places places(plan, program.domain);
  if (!places.follow(group.root)) return {};
  const Place *root = places.only(group.root), *inner = places.only(group.anchors[0]);
  if (root == nullptr || !root->whole || inner == nullptr) return {};
  program.per_element = true;
  program.fast_columns = true;
  for (std::size_t d = axis + 1; d < scan.shape.size(); ++d)
    program.fast_columns = program.fast_columns && scan.shape[d].is_one();
  return program;
}

std::vector<bool> RowProgram::fast_axes() const {
  std::vector<bool> fast(domain.shape.size(), false);
  for (std::size_t d = domain.shape.size(); d-- > 0;) {
    if (domain.shape[d].is_one()) continue;
    if (domain.reduced[d] != fast_columns) break;
    fast[d] = true;
  }
  return fast;
}

void set_row_extents(const RowProgram& program, TemplateValues& values) {
  Dim rows = 1, cols = 1, run = 1;
  const std::vector<bool> fast = program.fast_axes();
  for (std::size_t d = 0; d < program.domain.shape.size(); ++d) {
    (program.domain.reduced[d] ? cols : rows) = (program.domain.reduced[d] ? cols : rows) * program.domain.shape[d];
    if (fast[d]) run = run * program.domain.shape[d];
  }
  values.extents["ROWS"] = rows.to_string();
  values.extents["COLS"] = cols.to_string();
  values.extents["RUN"] = program.run.value_or(run).to_string();
}

}  // namespace kerf::synth
