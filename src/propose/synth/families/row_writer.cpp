// From row programs to the hooks and statements of their passes.

#include "propose/synth/families/row_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace kerf::synth {
namespace {

using codegen::Index;
using ir::attr;
using ir::is;
using ir::NodeId;

/// Whether computing this operator again costs more than keeping its value.
bool costly(const ir::Node& node) { return is<ir::MapAttr>(node) && ir::is_expensive(attr<ir::MapAttr>(node).op); }

std::string_view word_for(ir::ReduceOp op) {
  switch (op) {
    case ir::ReduceOp::sum: return "sum";
    case ir::ReduceOp::prod: return "product";
    case ir::ReduceOp::max: return "max";
    case ir::ReduceOp::min: return "min";
    case ir::ReduceOp::any: return "any";
    case ir::ReduceOp::all: return "all";
    case ir::ReduceOp::argmax: return "argmax";
    case ir::ReduceOp::argmin: return "argmin";
  }
  return "total";
}

class Writer {
 public:
  Writer(const RowProgram& program, const Group& group, const RowStyle& style, HookWriter& hooks)
      : program_(program),
        group_(group),
        style_(style),
        hooks_(hooks),
        plan_(hooks.plan()),
        places_(plan_, program.domain),
        columns_(program.domain.reduced_mask()) {
    KERF_CHECK(places_.follow(group.root), "the program was found in this group");
    set_texts();
  }

  RowCode write() {
    RowCode code;
    find_scalars();
    std::vector<std::size_t> first;  // the reduction each pass begins with
    for (std::size_t k = 0; k < program_.reduces.size(); ++k) {
      const NodeId id = program_.reduces[k];
      RowResult result{attr<ir::ReduceAttr>(node(id)).op,
                       hooks_.type_name(id),
                       hooks_.type_name(node(id).args[0]),
                       fmt::format("{}{}", word_for(attr<ir::ReduceAttr>(node(id)).op), first.size()),
                       codegen::value_type(node(id), hooks_.options()),
                       codegen::value_type(node(node(id).args[0]), hooks_.options()),
                       style_.pairs ? pair_from(program_, plan_, k) : Pair::none,
                       {}};
      known_[id] = result.name + lane();
      first.push_back(k);
      if (result.pair != Pair::none) {
        result.second = fmt::format("{}{}", result.pair == Pair::online ? "exp_sum" : "squares", first.size() - 1);
        known_[program_.reduces[++k]] = result.second;
      }
      code.results.push_back(std::move(result));
    }
    first.push_back(program_.reduces.size());
    define_scalars(code.before, -1);
    for (std::size_t p = 0; p + 1 < first.size(); ++p) {
      code.passes.push_back(pass(first[p], code));
      for (std::size_t k = first[p]; k < first[p + 1]; ++k)
        define_scalars(code.passes.back().scalars, static_cast<int>(k));
    }
    code.passes.push_back(last_pass());
    code.whole_at = whole_;
    for (const NodeId leaf : group_.leaves) {
      const Place* place = places_.only(leaf);
      if (place == nullptr || !place->whole) continue;
      const auto buffer = static_cast<std::size_t>(plan_.location[static_cast<std::size_t>(leaf)]);
      code.whole.push_back(plan_.buffers[buffer].parameter);
    }
    return code;
  }

  RowCode write_scan(const std::string& scanned) {
    RowCode code;
    find_scalars();
    define_scalars(code.before, -1);
    const NodeId scan = group_.anchors.front(), input = node(scan).args[0];
    PassCode first, last;
    Texts texts = known_;
    read_leaves(input, texts, first.leaves);
    first.term = call("term", input, texts, parameters(true));
    texts = known_;
    texts[scan] = scanned;
    read_leaves(group_.root, texts, last.leaves);
    last.term = call("finish", group_.root, texts, parameters(true));
    hooks_.store(style_.prefix + "put", group_.root, group_.buffer, parameters(true), index_of(group_.root),
                 {{group_.root, "value"}});
    code.passes = {std::move(first), std::move(last)};
    return code;
  }

  Index index_of(NodeId node) const {
    const Place* place = places_.only(node);
    KERF_CHECK(place != nullptr, "only nodes with one place are computed by hooks");
    Index index;
    index.by_axis = true;
    for (const int axis : place->axes) {
      index.by_axis = index.by_axis && axis != Place::kUnknown;
      index.axes.push_back(axis >= 0 ? texts_[static_cast<std::size_t>(axis)] : "0");
    }
    if (place->whole && !index.by_axis && program_.run && plan_.graph[node].shape == plan_.graph[group_.root].shape) {
      index.axes = root_texts_;
      index.by_axis = true;
    }
    if (place->whole)
      index.linear = whole_;
    else if (place->kept)
      index.linear = row_;
    return index;
  }

 private:
  using Texts = std::map<NodeId, std::string>;

  /// The domain's shape with 1 for every axis that is not `wanted`.
  template <class Wanted>
  Shape masked(const Wanted& wanted) const {
    Shape shape = program_.domain.shape;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (!wanted(d)) shape[d] = Dim(1);
    return shape;
  }
  void put_texts(const std::string& number, const Shape& shape) {
    const auto texts = unravel_text(number, shape, hooks_);
    for (const int d : true_axes(shape)) texts_[static_cast<std::size_t>(d)] = texts[static_cast<std::size_t>(d)];
  }

  /// The index along each axis, the number of the row and that of the element.
  void set_texts() {
    const auto& domain = program_.domain;
    const std::vector<bool> fast = program_.fast_axes();
    texts_.assign(domain.shape.size(), "0");
    const Shape run = masked([&](std::size_t d) { return fast[d]; });
    const Shape others = masked([&](std::size_t d) { return domain.reduced[d] == program_.fast_columns && !fast[d]; });
    const std::string count = hooks_.extent(element_count(run));
    const bool alone = true_axes(others).empty();
    std::string slow, quick = "inner";
    row_parameters_ = {"row"};
    row_ = "row";
    if (program_.fast_columns) {
      put_texts("row", masked([&](std::size_t d) { return !domain.reduced[d]; }));
      slow = style_.majors ? "run" : fmt::format("(col / {})", count);
      quick = alone ? "col" : style_.majors ? fmt::format("(col - run * {})", count) : fmt::format("(col % {})", count);
    } else {
      put_texts("col", masked([&](std::size_t d) { return domain.reduced[d]; }));
      slow = style_.rows_at_once ? "outer" : fmt::format("(row / {})", count);
      if (style_.rows_at_once) {
        row_parameters_ = {"outer", "inner"};
        row_ = alone ? "inner" : fmt::format("(outer * {} + inner)", count);
      } else {
        quick = alone ? "row" : fmt::format("(row % {})", count);
      }
    }
    put_texts(slow, others);
    put_texts(quick, run);
    if (program_.run) set_root_texts();
    const Shape lead = masked([&](std::size_t d) { return !fast[d]; });
    const std::string before = program_.fast_columns && alone ? row_ : linear_text(lead, texts_, hooks_);
    whole_ = true_axes(lead).empty() ? quick : fmt::format("({} * {} + {})", factor(before), count, quick);
  }

  /// The index along each axis of the root, when those are not the domain's.
  void set_root_texts() {
    const Shape& shape = node(group_.root).shape;
    const std::string count = hooks_.extent(*program_.run);
    const std::string major = style_.majors ? "run" : fmt::format("(col / {})", count);
    const std::string cols =
        hooks_.extent(element_count(masked([&](std::size_t d) { return program_.domain.reduced[d]; })));
    const auto split = static_cast<std::ptrdiff_t>(program_.run_axis);
    root_texts_ = unravel_text(fmt::format("(row * ({} / {}) + {})", cols, count, major),
                               Shape(shape.begin(), shape.begin() + split), hooks_);
    const auto rest =
        unravel_text(fmt::format("(col - {} * {})", major, count), Shape(shape.begin() + split, shape.end()), hooks_);
    root_texts_.insert(root_texts_.end(), rest.begin(), rest.end());
  }

  std::vector<std::string> parameters(bool with_column) const {
    std::vector<std::string> all = row_parameters_;
    if (with_column) all.emplace_back("col");
    if (with_column && style_.majors) all.emplace_back("run");
    return all;
  }

  const ir::Node& node(NodeId id) const { return plan_.graph[id]; }
  bool loaded(NodeId id) const { return plan_.location[static_cast<std::size_t>(id)] >= 0; }
  bool by_column(NodeId id) const { return (places_.depends(id) & columns_) != 0; }
  bool trivial(NodeId id) const { return is<ir::ConstantAttr>(node(id)) || is<ir::IotaAttr>(node(id)); }
  NodeId goal(std::size_t pass) const {
    return pass < program_.reduces.size() ? node(program_.reduces[pass]).args[0] : group_.root;
  }

  std::string lane() const { return style_.rows_at_once ? "[l]" : ""; }

  /// Rows' values that columns use, and the pass after which they are known.
  void find_scalars() {
    std::set<NodeId> found;
    for (const NodeId id : group_.members) {
      if (!places_.known(id) || !by_column(id) || is<ir::ReduceAttr>(node(id))) continue;
      for (const NodeId arg : node(id).args)
        if (!by_column(arg) && !trivial(arg) && places_.only(arg) != nullptr && !is_result(arg)) found.insert(arg);
    }
    for (const NodeId id : found) scalars_.emplace_back(id, stage_of(id));
  }
  bool is_result(NodeId id) const {
    return std::find(program_.reduces.begin(), program_.reduces.end(), id) != program_.reduces.end();
  }
  int stage_of(NodeId id) const {
    if (loaded(id)) return -1;
    const auto found = std::find(program_.reduces.begin(), program_.reduces.end(), id);
    if (found != program_.reduces.end()) return static_cast<int>(found - program_.reduces.begin());
    int stage = -1;
    for (const NodeId arg : node(id).args) stage = std::max(stage, stage_of(arg));
    return stage;
  }

  /// Values of the row that are known after reduction `stage`.
  void define_scalars(std::vector<RowValue>& values, int stage) {
    for (const auto& [id, known_after] : scalars_) {
      if (known_after != stage) continue;
      const std::string name = fmt::format("scalar{}", scalars_defined_);
      values.push_back(
          {hooks_.type_name(id), name, call(fmt::format("row_{}", scalars_defined_), id, known_, parameters(false))});
      known_[id] = name + lane();
      ++scalars_defined_;
    }
  }

  /// Nodes of `texts` that the value of `id` needs, in order.
  void needs(NodeId id, const Texts& texts, std::set<NodeId>& seen, std::vector<NodeId>& found) const {
    if (!seen.insert(id).second) return;
    if (texts.contains(id)) {
      found.push_back(id);
      return;
    }
    if (loaded(id)) return;
    for (const NodeId arg : node(id).args) needs(arg, texts, seen, found);
  }

  /// The value of `id` at this row and column: a name that is known, or a call of a new hook.
  std::string call(const std::string& hook, NodeId id, const Texts& texts, const std::vector<std::string>& params) {
    if (const auto found = texts.find(id); found != texts.end()) return found->second;
    std::set<NodeId> seen;
    std::vector<NodeId> needed;
    needs(id, texts, seen, needed);
    std::vector<Bound> bound;
    std::string arguments;
    for (const NodeId need : needed) {
      const std::string& text = texts.at(need);  // "sum0", "x_v[v]": the parameter is called as the argument
      bound.push_back({need, text.substr(0, text.find('['))});
      arguments += ", " + text;
    }
    hooks_.value(style_.prefix + hook, id, params, index_of(id), bound);
    return fmt::format("${}{}($args, {}{})", style_.prefix, hook, join(params, ", "), arguments);
  }

  /// Leaves that the template reads itself; adds them and their names.
  void read_leaves(NodeId from, Texts& texts, std::vector<RowLeaf>& reads) {
    if (!style_.read_leaves) return;
    std::set<NodeId> seen;
    std::vector<NodeId> leaves;
    const auto walk = [&](const auto& self, NodeId id) -> void {
      if (!seen.insert(id).second || texts.contains(id)) return;
      if (!loaded(id)) {
        for (const NodeId arg : node(id).args) self(self, arg);
      } else if (by_column(id) && places_.only(id) != nullptr && index_of(id).by_axis) {
        leaves.push_back(id);
      }
    };
    walk(walk, from);
    for (const NodeId leaf : leaves) {
      RowLeaf read = leaf_of(leaf);
      texts[leaf] = read.name + "[v]";
      if (std::none_of(reads.begin(), reads.end(), [&](const RowLeaf& r) { return r.name == read.name; }))
        reads.push_back(std::move(read));
    }
  }

  RowLeaf leaf_of(NodeId leaf) {
    const auto [found, fresh] = leaf_numbers_.emplace(leaf, leaf_numbers_.size());
    const std::string hook = fmt::format("{}leaf_{}", style_.prefix, found->second);
    if (fresh) hooks_.value(hook, leaf, parameters(true), index_of(leaf));
    const auto buffer_of = [&](NodeId id) { return plan_.location[static_cast<std::size_t>(id)]; };
    const codegen::Buffer& buffer = plan_.buffers[static_cast<std::size_t>(buffer_of(leaf))];
    const bool again = std::any_of(group_.leaves.begin(), group_.leaves.end(),
                                   [&](NodeId other) { return other != leaf && buffer_of(other) == buffer_of(leaf); });
    RowLeaf read{hooks_.type_name(leaf),
                 buffer.name + "_v" + (again ? std::to_string(found->second) : ""),
                 "$" + hook,
                 false,
                 buffer.parameter,
                 ""};
    read.floats = buffer.dtype == DType::f32 && read.type == "float" && program_.fast_columns && runs_along(leaf);
    const Index index = index_of(leaf);
    if (read.floats) read.at = index.linear.empty() ? linear_text(node(leaf).shape, index.axes, hooks_) : index.linear;
    return read;
  }

  /// Whether a leaf's last axes are the domain's fast ones.
  bool runs_along(NodeId leaf) const {
    const std::vector<bool> fast = program_.fast_axes();
    std::vector<int> wanted, own;
    for (const int d : true_axes(program_.domain.shape))
      if (fast[static_cast<std::size_t>(d)]) wanted.push_back(d);
    for (const int d : true_axes(node(leaf).shape))
      own.push_back(places_.only(leaf)->axes[static_cast<std::size_t>(d)]);
    return own.size() >= wanted.size() && std::equal(wanted.rbegin(), wanted.rend(), own.rbegin());
  }

  /// Values of this column that passes after `pass` want and passes up to it have computed.
  std::vector<NodeId> frontier(std::size_t pass) const {
    std::set<NodeId> computed, seen;
    const auto collect = [&](const auto& self, NodeId id) -> void {
      if (!computed.insert(id).second || known_reduce(id) || loaded(id)) return;
      for (const NodeId arg : node(id).args) self(self, arg);
    };
    for (std::size_t k = 0; k <= pass; ++k) collect(collect, goal(k));
    std::vector<NodeId> kept;
    const auto look = [&](const auto& self, NodeId id) -> void {
      if (!seen.insert(id).second || known_reduce(id)) return;
      if (computed.contains(id) && worth_keeping(id)) {
        kept.push_back(id);
        return;
      }
      if (loaded(id)) return;
      for (const NodeId arg : node(id).args) self(self, arg);
    };
    for (std::size_t k = pass + 1; k < program_.reduces.size(); ++k) look(look, goal(k));
    if (program_.per_element) look(look, group_.root);
    std::sort(kept.begin(), kept.end());
    return kept;
  }
  bool known_reduce(NodeId id) const { return is_result(id); }

  bool worth_keeping(NodeId id) const {
    if (style_.keep == Keep::nothing || !by_column(id) || trivial(id)) return false;
    const Place* place = places_.only(id);
    if (place == nullptr || !place->whole) return false;
    if (style_.keep == Keep::everything) return true;
    const auto expensive = [&](const auto& self, NodeId at) -> bool {
      if (loaded(at) || is_result(at) || !by_column(at)) return false;
      const auto& args = node(at).args;
      return costly(node(at)) || std::any_of(args.begin(), args.end(), [&](NodeId arg) { return self(self, arg); });
    };
    return expensive(expensive, id);
  }

  Texts with_slots() const {
    Texts texts = known_;
    for (const auto& [id, slot] : slots_) texts[id] = fmt::format("kept{}[$AT]", slot);
    return texts;
  }

  std::size_t free_slot(RowCode& code, const std::string& type, const std::set<std::size_t>& taken) const {
    for (std::size_t s = 0; s < code.slot_types.size(); ++s)
      if (!taken.contains(s) && code.slot_types[s] == type) return s;
    code.slot_types.push_back(type);
    return code.slot_types.size() - 1;
  }

  PassCode pass(std::size_t k, RowCode& code) {
    PassCode result;
    Texts texts = with_slots();
    const std::vector<NodeId> kept = frontier(k);
    std::vector<NodeId> fresh;
    std::map<NodeId, std::size_t> slots;
    std::set<std::size_t> taken;
    for (const NodeId id : kept)
      if (const auto found = slots_.find(id); found != slots_.end()) {
        slots.insert(*found);
        taken.insert(found->second);
      } else {
        fresh.push_back(id);
      }
    for (const NodeId id : fresh) {
      read_leaves(id, texts, result.leaves);
      if (!texts.contains(id)) {
        RowValue value{hooks_.type_name(id), fmt::format("value{}", result.values.size()),
                       call(fmt::format("keep_{}_{}", k, id), id, texts, parameters(true))};
        texts[id] = value.name;
        result.values.push_back(std::move(value));
      }
      const std::size_t slot = free_slot(code, hooks_.type_name(id), taken);
      taken.insert(slot);
      slots[id] = slot;
      result.saves.push_back({hooks_.type_name(id), fmt::format("kept{}", slot), texts[id]});
    }
    read_leaves(goal(k), texts, result.leaves);
    result.term = call(fmt::format("term_{}", k), goal(k), texts, parameters(true));
    slots_ = std::move(slots);
    return result;
  }

  PassCode last_pass() {
    PassCode result;
    Texts texts = with_slots();
    const std::string put = style_.prefix + "put";
    if (program_.per_element) {
      read_leaves(group_.root, texts, result.leaves);
      result.term = call("finish", group_.root, texts, parameters(true));
      hooks_.store(put, group_.root, group_.buffer, parameters(true), index_of(group_.root), {{group_.root, "value"}});
    } else {
      result.term = call("finish", group_.root, known_, parameters(false));
      hooks_.store(put, group_.root, group_.buffer, parameters(false), index_of(group_.root), {{group_.root, "value"}});
    }
    return result;
  }

  const RowProgram& program_;
  const Group& group_;
  const RowStyle& style_;
  HookWriter& hooks_;
  const codegen::BufferPlan& plan_;
  Places places_;
  std::uint64_t columns_;
  std::vector<std::string> row_parameters_;
  std::string row_;  // number of the row
  std::vector<std::string> root_texts_;
  std::vector<std::string> texts_;  // per variable of the domain
  std::string whole_;               // number of the domain's element
  std::vector<std::pair<NodeId, int>> scalars_;
  Texts known_;                          // reductions and rows' values
  std::map<NodeId, std::size_t> slots_;  // what is kept at this point
  std::map<NodeId, std::size_t> leaf_numbers_;
  std::size_t scalars_defined_ = 0;
};

}  // namespace

RowCode write_row_code(const RowProgram& program, const Group& group, const RowStyle& style, HookWriter& hooks) {
  return Writer(program, group, style, hooks).write();
}

RowCode write_scan_code(const RowProgram& program, const Group& group, const RowStyle& style,
                        const std::string& scanned, HookWriter& hooks) {
  return Writer(program, group, style, hooks).write_scan(scanned);
}

std::string root_address(const RowProgram& program, const Group& group, HookWriter& hooks) {
  const Index index = Writer(program, group, {}, hooks).index_of(group.root);
  if (!index.linear.empty()) return index.linear;
  return linear_text(hooks.plan().graph[group.root].shape, index.axes, hooks);
}

}  // namespace kerf::synth
