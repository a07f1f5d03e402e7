// Pooling over one to three spatial axes, with what is elementwise before and after it. Missing spatial axes have
// extent 1, all axes before the spatial ones are one axis of planes.
//
// Templates get the extents PLANES, ID IH IW (input), OD OH OW (output) and the integers KD KH KW (window), SD SH SW
// (stride), PD PH PW (padding), LD LH LW (dilation); the flag MAX (else sum); X_DIRECT with X_PTR, X_OFFSET, X_SP,
// X_SD, X_SH, X_SW, else the hook $load_x($args, p, d, h, w); X_FLOATS when those are floats; the hook $store($args, p,
// d, h, w, total); Y_FLOATS with Y_PTR and $finish($args, p, d, h, w, total), see set_plain_output.

#include <algorithm>

#include "propose/synth/families/families.hpp"
#include "propose/synth/families/matmul_epilogue.hpp"

namespace kerf::synth {
namespace {

using ir::NodeId;

constexpr std::size_t kPoolAxes = 3;
constexpr const char* kPoolAxisNames[kPoolAxes] = {"D", "H", "W"};

/// The one stride of axes [0, lead) of a contiguous block of planes, if they have one.
std::optional<Dim> plane_stride(const DirectAccess& access, const Shape& shape, std::size_t lead) {
  std::optional<Dim> innermost;
  Dim expected = 0;
  for (std::size_t d = lead; d-- > 0;) {
    if (shape[d].is_one()) continue;
    if (!innermost)
      innermost = access.strides[d];
    else if (!(access.strides[d] == expected))
      return {};
    expected = access.strides[d] * shape[d];
  }
  return innermost.value_or(Dim(0));
}

class Pool final : public Family {
 public:
  std::string_view name() const override { return "pool"; }

  bool fits(const codegen::BufferPlan& plan, const Group& group) const override {
    if (group.anchors.size() != 1 || !ir::is<ir::PoolAttr>(plan.graph[group.anchors[0]])) return false;
    const ir::Node& node = plan.graph[group.anchors[0]];
    const auto& pool = ir::attr<ir::PoolAttr>(node);
    if (!is_float(node.dtype) || pool.kernel.empty() || pool.kernel.size() > kPoolAxes) return false;
    return layout_steps(plan.graph, group, group.anchors[0]).has_value();
  }

  Result<TemplateValues> fill(const Group& group, const TargetContext&, HookWriter& hooks) const override {
    const ir::Graph& graph = hooks.plan().graph;
    const NodeId id = group.anchors[0], x = graph[id].args[0];
    const auto& pool = ir::attr<ir::PoolAttr>(graph[id]);
    const auto steps = layout_steps(graph, group, id);
    KERF_CHECK(steps, "fill is called for groups that fit");
    const Shape &in = graph[x].shape, &out = graph[id].shape;
    const std::size_t missing = kPoolAxes - pool.kernel.size(), lead = in.size() - pool.kernel.size();
    const Shape planes(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(lead));
    TemplateValues values;
    set_extent(values, "PLANES", element_count(planes), hooks);
    for (std::size_t d = 0; d < kPoolAxes; ++d) {
      const bool real = d >= missing;
      const std::size_t s = d - missing;
      const std::string axis = kPoolAxisNames[d];
      set_extent(values, "I" + axis, real ? in[lead + s] : Dim(1), hooks);
      set_extent(values, "O" + axis, real ? out[lead + s] : Dim(1), hooks);
      set_extent(values, "K" + axis, real ? pool.kernel[s] : 1, hooks);
      set_extent(values, "S" + axis, real ? pool.stride[s] : 1, hooks);
      set_extent(values, "P" + axis, real ? pool.padding[s] : 0, hooks);
      set_extent(values, "L" + axis, real ? pool.dilation[s] : 1, hooks);
    }
    set_flag(values, "MAX", pool.op == ir::PoolOp::max);
    set_flag(values, "F32", hooks.options().compute == DType::f32);
    operand(values, hooks, x, planes, missing);
    const std::vector<std::string> params{"p", "d", "h", "w"};
    const auto index = index_in_root(*steps, out, place(planes, missing, hooks), hooks);
    hooks.store("store", group.root, group.buffer, params, index, {{id, "total"}});
    set_plain_output(values, group, *steps, params, index, {id, "total"}, hooks);
    return values;
  }

 private:
  /// Index of an element of plane p at d, h, w.
  static std::vector<std::string> place(const Shape& planes, std::size_t missing, HookWriter& hooks) {
    std::vector<std::string> at = unflatten("p", planes, hooks);
    const std::vector<std::string> spatial{"d", "h", "w"};
    at.insert(at.end(), spatial.begin() + static_cast<std::ptrdiff_t>(missing), spatial.end());
    return at;
  }

  static void operand(TemplateValues& values, HookWriter& hooks, NodeId x, const Shape& planes, std::size_t missing) {
    const auto access = hooks.direct(x);
    const auto stride = access ? plane_stride(*access, planes, planes.size()) : std::nullopt;
    const bool direct = access && stride && access->dtype == hooks.options().compute;
    set_flag(values, "X_DIRECT", direct);
    set_flag(values, "X_FLOATS", direct && access->dtype == DType::f32);
    if (!direct) {
      hooks.value("load_x", x, {"p", "d", "h", "w"}, codegen::Index::of_axes(place(planes, missing, hooks)));
      return;
    }
    values.text["X_PTR"] = access->pointer;
    set_extent(values, "X_OFFSET", access->offset, hooks);
    set_extent(values, "X_SP", *stride, hooks);
    std::vector<Dim> strides{*stride};
    for (std::size_t d = 0; d < kPoolAxes; ++d) {
      strides.push_back(d < missing ? Dim(0) : access->strides[planes.size() + d - missing]);
      set_extent(values, std::string("X_S") + kPoolAxisNames[d], strides.back(), hooks);
    }
    hooks.element("load_x", *access, {"p", "d", "h", "w"}, strides);
  }
};

}  // namespace

const Family& pool_family() {
  static const Pool family;
  return family;
}

}  // namespace kerf::synth
