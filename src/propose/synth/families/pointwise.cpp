// Fused elementwise chains.
//
// A kernel runs over OUTER x INNER elements, COUNT in all; INNER is the longest run of trailing axes along which every
// leaf is either contiguous or constant. Templates get the extents OUTER, INNER, COUNT; FLAT when OUTER is 1; and the
// hooks
//   $item($args, outer, inner)                 computes and stores one element
//   $value($args, outer, inner, leaves...)     the same from leaves that were read before, not stored
//   $put($args, outer, inner, value)           stores it
//   $raw($args, outer, inner)                  computes one element from nothing
//   $part_item($args, outer, inner $FIXED), $part_raw($args, outer, inner $FIXED)
//                                              the same with FIXED_VALUES, which depend on outer alone: `read` is the
//                                              hook of each, `type` and `name` those of its variable.
// LEAVES are the leaves that are read before: `x` is the array that takes one (of the items of a thread; with `run`, of
// V elements from inner on of each), `read` the hook that reads it, `wide` says that `pointer + (at)` are floats. BOUND
// are the arguments for them of item `i`. OUT_F32 when the output is floats at OUT_PTR, OUT_F16 when values are floats
// and the output is halves; OUT_TYPE is the type of a value. RUNS lists the leaves that are contiguous along INNER:
// element (kerf_outer, kerf_inner) of one lies at `pointer + (at)`.
//
// JOINED: the root concatenates elementwise pieces. OUTER rows then have PIECES of at most LONGEST elements: `value`
// and `put` are the hooks of one, `size` its elements.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "propose/synth/families/families.hpp"
#include "propose/synth/families/row_places.hpp"

namespace kerf::synth {
namespace {

using codegen::Index;
using ir::NodeId;

enum class Access { run, fixed, loose };  // contiguous along INNER, constant along it, anything else

/// How a leaf is read when the axes from `first` on are the inner ones.
Access access_of(const Places& places, NodeId leaf, const Shape& shape, const Shape& domain, int first) {
  const Place* place = places.only(leaf);
  const std::uint64_t inner = ~std::uint64_t{0} << first;
  if (place == nullptr) return (places.depends(leaf) & inner) == 0 ? Access::fixed : Access::loose;
  if ((place->depends & inner) == 0) return Access::fixed;
  std::vector<int> wanted, last;
  for (const int d : true_axes(domain))
    if (d >= first) wanted.push_back(d);
  const std::vector<int> own = true_axes(shape);
  for (std::size_t k = 0; k < own.size(); ++k) {
    const int variable = place->axes[static_cast<std::size_t>(own[k])];
    if (variable == Place::kUnknown) return Access::loose;
    if (variable >= first)
      last.push_back(variable);
    else if (!last.empty())
      return Access::loose;
  }
  return last == wanted ? Access::run : Access::loose;
}

/// The first axis of the inner run: as far out as every leaf allows that allows anything.
int first_inner_axis(const codegen::BufferPlan& plan, const Group& group, const Places& places, const Shape& domain) {
  const std::vector<int> axes = true_axes(domain);
  if (axes.empty()) return 0;
  const auto access = [&](NodeId leaf, int first) {
    return access_of(places, leaf, plan.graph[leaf].shape, domain, first);
  };
  for (const int first : axes) {
    const bool good = std::all_of(group.leaves.begin(), group.leaves.end(), [&](NodeId leaf) {
      return access(leaf, first) != Access::loose || access(leaf, axes.back()) == Access::loose;
    });
    if (good) return first == axes.front() ? 0 : first;
  }
  return axes.back();
}

class Pointwise final : public Family {
 public:
  std::string_view name() const override { return "pointwise"; }

  bool fits(const codegen::BufferPlan& plan, const Group& group) const override {
    if (is_joined(plan, group)) return true;
    if (!group.anchors.empty()) return false;
    const Domain domain = domain_of(plan, group);
    return Places(plan, domain).follow(group.root);
  }

  Result<TemplateValues> fill(const Group& group, const TargetContext&, HookWriter& hooks) const override {
    const codegen::BufferPlan& plan = hooks.plan();
    if (is_joined(plan, group)) return fill_joined(group, hooks);
    const Domain domain = domain_of(plan, group);
    Places places(plan, domain);
    KERF_CHECK(places.follow(group.root), "fill is called for groups that fit");
    const int first = first_inner_axis(plan, group, places, domain.shape);
    TemplateValues values;
    const Index index = set_extents(values, hooks, domain.shape, first);
    const std::vector<std::string> at{"kerf_outer", "kerf_inner"};
    hooks.store("item", group.root, group.buffer, at, index, {});
    hooks.value("raw", group.root, at, index);
    const auto fixed = fixed_values(values, hooks, group.root, places, domain.shape, first);
    hooks.store("part_item", group.root, group.buffer, at, index, fixed);
    hooks.value("part_raw", group.root, at, index, fixed);
    values.lists["RUNS"] = values.lists["LEAVES"] = templates::List{};
    if (group.copy) {
      hooks.value("value", group.root, at, index);
    } else {
      const auto bound = read_leaves(values, hooks, group, places, domain.shape, first);
      hooks.value("value", group.root, at, index, bound);
    }
    hooks.store("put", group.root, group.buffer, at, index, {{group.root, "kerf_y"}});
    const codegen::Buffer& out = plan.buffers[static_cast<std::size_t>(group.buffer)];
    values.text["OUT_TYPE"] = hooks.type_name(group.root);
    values.text["OUT_PTR"] = out.parameter;
    values.text["OUT_F32"] = out.dtype == DType::f32 && hooks.type_name(group.root) == "float" ? "1" : "0";
    values.text["OUT_F16"] = out.dtype == DType::f16 && hooks.type_name(group.root) == "float" ? "1" : "0";
    values.text["JOINED"] = "0";
    values.text.try_emplace("BOUND", "");
    return values;
  }

 private:
  static bool is_joined(const codegen::BufferPlan& plan, const Group& group) {
    return !group.copy && group.anchors.size() == 1 && group.anchors.front() == group.root &&
           ir::is<ir::ConcatAttr>(plan.graph[group.root]);
  }

  static TemplateValues fill_joined(const Group& group, HookWriter& hooks) {
    const ir::Node& root = hooks.plan().graph[group.root];
    const auto axis = static_cast<std::ptrdiff_t>(ir::attr<ir::ConcatAttr>(root).axis);
    const Shape outer(root.shape.begin(), root.shape.begin() + axis);
    const Dim row = element_count(Shape(root.shape.begin() + axis, root.shape.end()));
    const std::vector<std::string> at{"kerf_outer", "kerf_inner"};
    Dim longest = 0, begin = 0;
    templates::List pieces;
    for (std::size_t k = 0; k < root.args.size(); ++k) {
      const Shape& shape = hooks.plan().graph[root.args[k]].shape;
      const Shape inner(shape.begin() + axis, shape.end());
      const Dim size = element_count(inner);
      Index own;
      own.axes = unravel_text("kerf_outer", outer, hooks);
      const auto rest = unravel_text("kerf_inner", inner, hooks);
      own.axes.insert(own.axes.end(), rest.begin(), rest.end());
      own.by_axis = true;
      own.linear = fmt::format("(kerf_outer * {} + kerf_inner)", hooks.extent(size));
      hooks.value(fmt::format("piece_{}", k), root.args[k], at, own);
      const std::string place =
          fmt::format("(kerf_outer * {} + {} + kerf_inner)", hooks.extent(row), hooks.extent(begin));
      hooks.store(fmt::format("put_{}", k), group.root, group.buffer, at, Index::of_linear(place),
                  {{group.root, "kerf_y"}});
      pieces.push_back(templates::Record{
          {"size", hooks.extent(size)}, {"value", fmt::format("$piece_{}", k)}, {"put", fmt::format("$put_{}", k)}});
      longest = k == 0 ? size : max(longest, size);
      begin = begin + size;
    }
    TemplateValues values;
    values.extents["OUTER"] = element_count(outer).to_string();
    values.extents["LONGEST"] = longest.to_string();
    values.lists["PIECES"] = std::move(pieces);
    values.text["JOINED"] = "1";
    values.text["OUT_F32"] = values.text["OUT_F16"] = "0";
    return values;
  }

  /// Computations that stay the same along INNER, bound to variables of the outer element: g++ neither hoists nor
  /// vectorises those with conditions in them.
  static std::vector<Bound> fixed_values(TemplateValues& values, HookWriter& hooks, NodeId root, const Places& places,
                                         const Shape& domain, int first) {
    const codegen::BufferPlan& plan = hooks.plan();
    const std::uint64_t inner = ~std::uint64_t{0} << first;
    const auto outer = unravel_text("kerf_outer", Shape(domain.begin(), domain.begin() + first), hooks);
    std::string& names = values.text["FIXED"];
    templates::List list;
    std::vector<Bound> bound;
    std::set<NodeId> seen;
    std::vector<NodeId> open{root};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      const ir::Node& node = plan.graph[id];
      if (!seen.insert(id).second || plan.location[static_cast<std::size_t>(id)] >= 0) continue;
      const Place* place = places.only(id);
      const bool stays = id != root && ir::is<ir::MapAttr>(node) && place != nullptr && (place->depends & inner) == 0 &&
                         std::none_of(place->axes.begin(), place->axes.end(),
                                      [](int variable) { return variable == Place::kUnknown; });
      if (!stays) {
        open.insert(open.end(), node.args.rbegin(), node.args.rend());
        continue;
      }
      std::vector<std::string> at;
      for (const int variable : place->axes)
        at.push_back(variable < 0 ? "0" : outer[static_cast<std::size_t>(variable)]);
      const std::string name = fmt::format("kerf_f{}", bound.size()), hook = fmt::format("fixed_{}", bound.size());
      hooks.value(hook, id, {"kerf_outer"}, Index::of_axes(std::move(at)));
      list.push_back(templates::Record{{"type", hooks.type_name(id)}, {"name", name}, {"read", "$" + hook}});
      names += ", " + name;
      bound.push_back({id, name});
    }
    values.lists["FIXED_VALUES"] = std::move(list);
    return bound;
  }

  static Domain domain_of(const codegen::BufferPlan& plan, const Group& group) {
    const Shape& shape = plan.graph[group.root].shape;
    return {shape, std::vector<bool>(shape.size(), false)};
  }

  static Index set_extents(TemplateValues& values, HookWriter& hooks, const Shape& shape, int first) {
    const auto split = shape.begin() + first;
    const Shape outer(shape.begin(), split), inner(split, shape.end());
    const Dim outer_count = element_count(outer), inner_count = element_count(inner);
    values.extents["OUTER"] = outer_count.to_string();
    values.extents["INNER"] = inner_count.to_string();
    values.extents["COUNT"] = element_count(shape).to_string();
    values.text["FLAT"] = outer_count.is_one() ? "1" : "0";
    Index index;
    index.axes = unravel_text("kerf_outer", outer, hooks);
    const auto rest = unravel_text("kerf_inner", inner, hooks);
    index.axes.insert(index.axes.end(), rest.begin(), rest.end());
    index.by_axis = true;
    index.linear =
        outer_count.is_one() ? "kerf_inner" : fmt::format("(kerf_outer * {} + kerf_inner)", hooks.extent(inner_count));
    return index;
  }

  /// Says how leaves are read ahead of the computation and gives back what it binds.
  static std::vector<Bound> read_leaves(TemplateValues& values, HookWriter& hooks, const Group& group,
                                        const Places& places, const Shape& domain, int first) {
    const codegen::BufferPlan& plan = hooks.plan();
    std::vector<Bound> bound;
    templates::List runs, leaves;
    std::string& names = values.text["BOUND"];
    for (const NodeId leaf : group.leaves) {
      const Shape& shape = plan.graph[leaf].shape;
      const Access access = access_of(places, leaf, shape, domain, first);
      const Place* place = places.only(leaf);
      if (access == Access::loose || place == nullptr) continue;
      const auto outer = unravel_text("kerf_outer", Shape(domain.begin(), domain.begin() + first), hooks);
      std::vector<std::string> lead(shape.size(), "0");
      Shape lead_shape = shape;
      bool resolved = true;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const int variable = place->axes[d];
        resolved = resolved && variable != Place::kUnknown;
        if (variable >= first)
          lead_shape[d] = 1;
        else if (variable >= 0)
          lead[d] = outer[static_cast<std::size_t>(variable)];
      }
      if (!resolved) continue;
      std::string address = linear_text(lead_shape, lead, hooks);
      if (access == Access::run) {
        const std::string run = hooks.extent(element_count(Shape(domain.begin() + first, domain.end())));
        address = address == "0" ? "kerf_inner" : fmt::format("({}) * {} + kerf_inner", address, run);
      }
      const std::string x = fmt::format("kerf_x{}", bound.size()), type = hooks.type_name(leaf);
      const std::string hook = fmt::format("leaf_{}", bound.size());
      hooks.value(hook, leaf, {"kerf_outer", "kerf_inner"}, {{}, "(" + address + ")", false});
      const codegen::Buffer& buffer =
          plan.buffers[static_cast<std::size_t>(plan.location[static_cast<std::size_t>(leaf)])];
      const bool run = access == Access::run, wide = buffer.dtype == DType::f32 && type == "float";
      if (run) runs.push_back(templates::Record{{"pointer", buffer.parameter}, {"at", address}});
      leaves.push_back(templates::Record{{"x", x},
                                         {"type", type},
                                         {"read", "$" + hook},
                                         {"run", run ? "1" : "0"},
                                         {"wide", wide ? "1" : "0"},
                                         {"pointer", buffer.parameter},
                                         {"at", address}});
      names += fmt::format(", {}[i]{}", x, run ? "[v]" : "");
      bound.push_back({leaf, x});
    }
    values.lists["RUNS"] = std::move(runs);
    values.lists["LEAVES"] = std::move(leaves);
    return bound;
  }
};

}  // namespace

const Family& pointwise_family() {
  static const Pointwise family;
  return family;
}

}  // namespace kerf::synth
