// Graph nodes to register programs.

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "ir/interpret/program.hpp"

namespace kerf::ir::eval {

std::int64_t map_cost(MapOp op) {
  if (facts_of(op).library_call) return 40;
  switch (facts_of(op).cost) {
    case CostClass::cheap: return 1;
    case CostClass::division: return 3;
    case CostClass::function: return 8;
  }
  return 1;
}

namespace {

class Compiler {
 public:
  Compiler(const Graph& graph, const std::vector<NodeFacts>& facts, const std::vector<char>& materialised)
      : graph_(graph), facts_(facts), materialised_(materialised) {}

  Program compile(const ProgramRequest& request) {
    in_region_.assign(graph_.nodes.size(), 0);
    for (const NodeId node : request.stores) in_region_[index(node)] = 1;
    for (const NodeId node : request.stores) store(node);
    for (const auto& operand : request.operands)
      program_.results.push_back(convert(root(operand.node), operand.conversion));
    assign_places();
    return std::move(program_);
  }

 private:
  using Key = std::pair<NodeId, std::vector<std::int64_t>>;  // the map, flattened; empty for the identity

  static std::size_t index(NodeId node) { return static_cast<std::size_t>(node); }
  const NodeFacts& facts(NodeId node) const { return facts_[index(node)]; }
  int new_register() { return registers_++; }
  int root(NodeId node) { return value(node, identity_map(facts(node).extents)); }

  static Key key_of(NodeId node, const IndexMap& map) {
    Key key{node, {}};
    if (map.identity) return key;
    key.second = map.iteration;
    for (const auto& axis : map.axes) {
      key.second.push_back(axis.offset);
      key.second.insert(key.second.end(), axis.coefficients.begin(), axis.coefficients.end());
    }
    return key;
  }

  bool is_leaf(NodeId node, const IndexMap& map) const {
    const Node& n = graph_[node];
    const bool elementwise = is<MapAttr>(n) || is<IotaAttr>(n) || is<ViewAttr>(n) || is<ReshapeAttr>(n);
    if (!elementwise) return true;
    return materialised_[index(node)] != 0 && !(in_region_[index(node)] != 0 && map.identity);
  }

  int value(NodeId node, const IndexMap& map) {
    const Node& n = graph_[node];
    if (is<ConstantAttr>(n)) return constant(attr<ConstantAttr>(n).value, facts(node).floating);
    if (facts(node).alias && map.identity) return value(n.args[0], identity_map(facts(n.args[0]).extents));
    Key key = key_of(node, map);
    if (const auto known = values_.find(key); known != values_.end()) return known->second;
    const int result = is_leaf(node, map) ? load(node, map) : compute(node, map);
    values_.emplace(std::move(key), result);
    return result;
  }

  int compute(NodeId node, const IndexMap& map) {
    const Node& n = graph_[node];
    if (is<IotaAttr>(n)) return iota(node, map);
    if (is<MapAttr>(n)) return apply(node, map);
    const NodeFacts& argument = facts(n.args[0]);
    if (is<ViewAttr>(n)) {
      const ConcreteView& view = *facts(node).view;
      IndexMap inner = view_map(map, view, argument.extents);
      if (view.is_affine()) return value(n.args[0], inner);
      return gather(n.args[0], view, std::move(inner));
    }
    KERF_CHECK(map.identity, "a reshape inside a region keeps every position");
    return value(n.args[0], identity_map(argument.extents));
  }

  int apply(NodeId node, const IndexMap& map) {
    const Node& n = graph_[node];
    const MapOp op = attr<MapAttr>(n).op;
    int in[3] = {-1, -1, -1};
    for (std::size_t i = 0; i < n.args.size(); ++i)
      in[i] = value(n.args[i], broadcast_map(map, facts(node).extents, facts(n.args[i]).extents));
    if (op == MapOp::cast) return convert(in[0], cast_conversion(graph_[n.args[0]].dtype, n.dtype));
    Operation operation;
    operation.op = op;
    operation.floating = facts(n.args.back()).floating;
    std::copy(std::begin(in), std::end(in), std::begin(operation.in));
    program_.cost += map_cost(op);
    const int result = emit(operation);
    // Arithmetic on bools is logic: what is not 0 is 1.
    const bool arithmetic = op == MapOp::add || op == MapOp::sub || op == MapOp::mul || op == MapOp::neg;
    return n.dtype == DType::boolean && arithmetic ? convert(result, Conversion::int_to_bool) : result;
  }

  static Conversion cast_conversion(DType from, DType to) {
    if (is_float(to)) return is_float(from) ? Conversion::none : Conversion::int_to_float;
    if (to == DType::boolean)
      return is_float(from)           ? Conversion::float_to_bool
             : from == DType::boolean ? Conversion::none
                                      : Conversion::int_to_bool;
    if (is_float(from)) return to == DType::i32 ? Conversion::float_to_i32 : Conversion::float_to_int;
    return from == DType::i64 && to == DType::i32 ? Conversion::int_to_i32 : Conversion::none;
  }

  int convert(int in, Conversion conversion) {
    if (conversion == Conversion::none) return in;
    Operation operation;
    operation.kind = Operation::Kind::convert;
    operation.conversion = conversion;
    operation.in[0] = in;
    program_.cost += 1;
    return emit(operation);
  }

  int emit(Operation operation) {
    operation.out = new_register();
    program_.operations.push_back(operation);
    return operation.out;
  }

  int constant(double number, bool floating) {
    const std::int64_t bits = floating ? std::bit_cast<std::int64_t>(number) : static_cast<std::int64_t>(number);
    const auto key = std::make_pair(bits, floating);
    if (const auto known = constants_.find(key); known != constants_.end()) return known->second;
    const int reg = new_register();
    program_.uniforms.push_back({reg, bits, -1, 0});
    return constants_[key] = reg;
  }

  int source(NodeId node) {
    for (std::size_t i = 0; i < program_.sources.size(); ++i)
      if (program_.sources[i].node == node) return static_cast<int>(i);
    program_.sources.push_back({node, facts(node).storage});
    return static_cast<int>(program_.sources.size()) - 1;
  }

  int load(NodeId node, const IndexMap& map) {
    Walk walk = linear_walk(map, facts(node).extents);
    if (walk.is_uniform()) {
      const int reg = new_register();
      program_.uniforms.push_back({reg, 0, source(node), walk.base});
      return reg;
    }
    const DType storage = facts(node).storage;
    if (walk.is_contiguous() && (storage == DType::f64 || storage == DType::i64)) {
      const int reg = new_register();
      in_place_[reg] = {-1, source(node), walk.base, -1};
      return reg;
    }
    Operation operation;
    operation.kind = Operation::Kind::load;
    operation.floating = facts(node).floating;
    operation.detail = static_cast<int>(program_.loads.size());
    program_.loads.push_back({source(node), std::move(walk)});
    program_.cost += 2;
    return emit(operation);
  }

  int gather(NodeId node, const ConcreteView& view, IndexMap map) {
    const NodeFacts& leaf = facts(node);
    if (is<ConstantAttr>(graph_[node]) && !view.fill)
      return constant(attr<ConstantAttr>(graph_[node]).value, leaf.floating);
    const Extents strides = row_major_strides(leaf.extents);
    GatherAccess access{source(node), map.iteration, {}, view.fill};
    for (std::size_t d = 0; d < map.axes.size(); ++d)
      access.axes.push_back({std::move(map.axes[d]), view.axes[d].modulo, leaf.extents[d], strides[d]});
    Operation operation;
    operation.kind = Operation::Kind::gather;
    operation.floating = leaf.floating;
    operation.detail = static_cast<int>(program_.gathers.size());
    program_.gathers.push_back(std::move(access));
    program_.cost += 5;
    return emit(operation);
  }

  int iota(NodeId node, const IndexMap& map) {
    // The value along one axis is the walk of a tensor whose only non-zero stride is that axis's.
    const auto axis = static_cast<std::size_t>(attr<IotaAttr>(graph_[node]).axis);
    const AffineAxis& position = map.axes[axis];
    Operation operation;
    operation.kind = Operation::Kind::iota;
    operation.floating = facts(node).floating;
    operation.detail = static_cast<int>(program_.iotas.size());
    program_.iotas.push_back(merged_walk(position.offset, map.iteration, position.coefficients));
    program_.cost += 2;
    return emit(operation);
  }

  void store(NodeId node) {
    const int reg = root(node);
    const int slot = static_cast<int>(program_.stores.size());
    program_.stores.push_back({node, facts(node).storage});
    const bool lanes = facts(node).storage != DType::boolean;
    const bool computed = std::any_of(program_.operations.begin(), program_.operations.end(), [&](const Operation& o) {
      return o.out == reg && o.kind != Operation::Kind::store;
    });
    if (lanes && computed && !in_place_.contains(reg)) {
      in_place_[reg] = {-1, -1, 0, slot};
      return;
    }
    Operation operation;
    operation.kind = Operation::Kind::store;
    operation.in[0] = reg;
    operation.detail = slot;
    program_.operations.push_back(operation);
  }

  /// Scratch slots by lifetime; uniform registers and results keep theirs.
  void assign_places() {
    program_.places.assign(static_cast<std::size_t>(registers_), {});
    const auto place = [&](int reg) -> Program::Place& { return program_.places[static_cast<std::size_t>(reg)]; };
    for (const auto& [reg, where] : in_place_) place(reg) = where;
    for (const auto& uniform : program_.uniforms) place(uniform.reg).slot = program_.slots++;
    std::vector<std::size_t> last_use(static_cast<std::size_t>(registers_), 0);
    for (std::size_t i = 0; i < program_.operations.size(); ++i)
      for (const int in : program_.operations[i].in)
        if (in >= 0) last_use[static_cast<std::size_t>(in)] = i + 1;
    for (const int result : program_.results)
      last_use[static_cast<std::size_t>(result)] = program_.operations.size() + 1;
    std::vector<char> pinned(static_cast<std::size_t>(registers_), 0);
    for (const auto& uniform : program_.uniforms) pinned[static_cast<std::size_t>(uniform.reg)] = 1;
    std::vector<int> free_slots;
    for (std::size_t i = 0; i < program_.operations.size(); ++i) {
      const Operation& operation = program_.operations[i];
      if (operation.out >= 0 && !in_place_.contains(operation.out)) {
        if (free_slots.empty()) free_slots.push_back(program_.slots++);
        place(operation.out).slot = free_slots.back();
        free_slots.pop_back();
      }
      for (std::size_t a = 0; a < 3; ++a) {
        const int in = operation.in[a];
        const bool repeated = std::find(operation.in, operation.in + a, in) != operation.in + a;
        if (in < 0 || repeated || pinned[static_cast<std::size_t>(in)] != 0) continue;
        if (last_use[static_cast<std::size_t>(in)] == i + 1 && place(in).slot >= 0)
          free_slots.push_back(place(in).slot);
      }
    }
  }

  const Graph& graph_;
  const std::vector<NodeFacts>& facts_;
  const std::vector<char>& materialised_;
  std::vector<char> in_region_;
  Program program_;
  std::map<Key, int> values_;
  std::map<std::pair<std::int64_t, bool>, int> constants_;
  std::map<int, Program::Place> in_place_;
  int registers_ = 0;
};

}  // namespace

Program compile_program(const Graph& graph, const std::vector<NodeFacts>& facts, const std::vector<char>& materialised,
                        const ProgramRequest& request) {
  return Compiler(graph, facts, materialised).compile(request);
}

}  // namespace kerf::ir::eval
