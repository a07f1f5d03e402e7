// Convolutions of one to three spatial axes, forward and transposed, with what is elementwise before and after them.
// Missing spatial axes have extent 1, so templates always see depth, height and width.
//
// Templates get the extents BATCH, GROUPS, C and F (channels and filters of one group), ID IH IW (input), OD OH OW
// (output), KD KH KW (kernel) and the integers SD SH SW (stride), PD PH PW (padding), LD LH LW (dilation). Flags:
// TRANSPOSED, STRICT (what lies around the input is nothing rather than zeros, see below), DEPTHWISE (one channel and
// one filter per group), X_DIRECT and W_DIRECT with X_PTR, X_OFFSET, X_SB, X_SC, X_SD, X_SH, X_SW and W_PTR, W_OFFSET,
// W_SG, W_SF, W_SC, W_SD, W_SH, W_SW; the hooks $load_x($args, b, c, d, h, w), c counted over all groups, and
// $load_w($args, g, f, c, kd, kh, kw). $store($args, b, f, d, h, w, sum) finishes an element, f counted over all
// groups; Y_FLOATS with Y_PTR and $finish, see set_plain_output; X_FLOATS when X_DIRECT is floats. $exact($args, b, f,
// d, h, w) computes and stores it with plain loops: a tap outside of the input contributes nothing, whereas 0 times an
// infinite or NaN weight would.
//
// In every dimension both directions are sums of convolutions with stride 1. Forward, input i lies in plane (i + P) %
// S; transposed, output o belongs to phase o % S. IS_x and OS_x are the strides of input and output (one of them is 1);
// one position of the stride-1 convolution looks from -DOWN_x to HALO_x - DOWN_x around itself; N_x is the number of
// positions of the first (longest) phase.

#include <fmt/format.h>

#include <algorithm>

#include "propose/synth/families/families.hpp"
#include "propose/synth/families/matmul_epilogue.hpp"

namespace kerf::synth {
namespace {

using ir::NodeId;

constexpr std::size_t kSpatial = 3;
constexpr const char* kAxis[kSpatial] = {"D", "H", "W"};

/// A convolution with its spatial axes brought to three.
struct Geometry {
  NodeId x = 0, w = 0;
  std::size_t missing = 0;  ///< leading spatial axes that do not exist
  Dim batch, groups, channels, filters;
  Dim input[kSpatial], output[kSpatial], kernel[kSpatial];
  std::int64_t stride[kSpatial], padding[kSpatial], dilation[kSpatial];
  bool transposed = false;
};

Geometry geometry(const ir::Graph& graph, NodeId id) {
  const ir::Node& node = graph[id];
  const auto& conv = ir::attr<ir::ConvAttr>(node);
  const Shape &x = graph[node.args[0]].shape, &w = graph[node.args[1]].shape;
  Geometry g;
  g.x = node.args[0];
  g.w = node.args[1];
  g.missing = kSpatial - (x.size() - 2);
  g.transposed = conv.transposed;
  g.batch = x[0];
  g.groups = conv.groups;
  g.channels = conv.transposed ? floor_div(w[0], conv.groups) : w[1];
  g.filters = conv.transposed ? w[1] : floor_div(w[0], conv.groups);
  for (std::size_t d = 0; d < kSpatial; ++d) {
    const bool real = d >= g.missing;
    const std::size_t s = d - g.missing;
    g.input[d] = real ? x[s + 2] : Dim(1);
    g.output[d] = real ? node.shape[s + 2] : Dim(1);
    g.kernel[d] = real ? w[s + 2] : Dim(1);
    g.stride[d] = real ? conv.stride[s] : 1;
    g.padding[d] = real ? conv.padding[s] : 0;
    g.dilation[d] = real ? conv.dilation[s] : 1;
  }
  return g;
}

/// `lead` followed by those of the three spatial texts that exist.
std::vector<std::string> at(const Geometry& g, std::vector<std::string> lead, const std::vector<std::string>& spatial) {
  lead.insert(lead.end(), spatial.begin() + static_cast<std::ptrdiff_t>(g.missing), spatial.end());
  return lead;
}

void fill_extents(TemplateValues& values, const Geometry& g, HookWriter& hooks) {
  set_extent(values, "BATCH", g.batch, hooks);
  set_extent(values, "GROUPS", g.groups, hooks);
  set_extent(values, "C", g.channels, hooks);
  set_extent(values, "F", g.filters, hooks);
  for (std::size_t d = 0; d < kSpatial; ++d) {
    const std::string axis = kAxis[d];
    const Dim stride = g.stride[d], padding = g.padding[d], reach = (g.kernel[d] - 1) * Dim(g.dilation[d]);
    set_extent(values, "I" + axis, g.input[d], hooks);
    set_extent(values, "O" + axis, g.output[d], hooks);
    set_extent(values, "K" + axis, g.kernel[d], hooks);
    set_extent(values, "S" + axis, stride, hooks);
    set_extent(values, "P" + axis, padding, hooks);
    set_extent(values, "L" + axis, g.dilation[d], hooks);
    set_extent(values, "IS_" + axis, g.transposed ? Dim(1) : stride, hooks);
    set_extent(values, "OS_" + axis, g.transposed ? stride : Dim(1), hooks);
    // Never a negative dividend: the quotient of non-negative numbers is the same in C. -LO is the distance downwards.
    const Dim down = g.transposed ? floor_div(max(reach - padding, 0), stride) : Dim(0);
    const Dim up = g.transposed ? floor_div(stride - 1 + padding, stride) : floor_div(reach, stride);
    set_extent(values, "DOWN_" + axis, down, hooks);
    set_extent(values, "HALO_" + axis, down + up, hooks);
    set_extent(values, "N_" + axis, g.transposed ? ceil_div(g.output[d], stride) : g.output[d], hooks);
  }
}

void fill_operand(TemplateValues& values, const Geometry& g, HookWriter& hooks, bool is_x) {
  const std::string name = is_x ? "X" : "W";
  const NodeId node = is_x ? g.x : g.w;
  const auto access = hooks.direct(node);
  const bool direct = access && access->dtype == hooks.options().compute;
  set_flag(values, name + "_DIRECT", direct);
  if (is_x) set_flag(values, "X_FLOATS", direct && access->dtype == DType::f32);
  if (direct) {
    values.text[name + "_PTR"] = access->pointer;
    set_extent(values, name + "_OFFSET", access->offset, hooks);
    if (is_x) {
      set_extent(values, "X_SB", access->strides[0], hooks);
      set_extent(values, "X_SC", access->strides[1], hooks);
    } else {
      // Filter f and channel c of group g: w[g * F + f, c], transposed w[g * C + c, f].
      const Dim& outer = access->strides[0];
      set_extent(values, "W_SG", outer * (g.transposed ? g.channels : g.filters), hooks);
      set_extent(values, "W_SF", access->strides[g.transposed ? 1 : 0], hooks);
      set_extent(values, "W_SC", access->strides[g.transposed ? 0 : 1], hooks);
    }
    std::vector<Dim> strides{access->strides[0], access->strides[1]};
    if (!is_x)
      strides = {access->strides[0] * (g.transposed ? g.channels : g.filters), access->strides[g.transposed ? 1 : 0],
                 access->strides[g.transposed ? 0 : 1]};
    for (std::size_t d = 0; d < kSpatial; ++d) {
      strides.push_back(d < g.missing ? Dim(0) : access->strides[d - g.missing + 2]);
      set_extent(values, name + "_S" + kAxis[d], strides.back(), hooks);
    }
    if (is_x)
      hooks.element("load_x", *access, {"b", "c", "d", "h", "w"}, strides);
    else
      hooks.element("load_w", *access, {"g", "f", "c", "d", "h", "w"}, strides);
    return;
  }
  if (is_x) {
    hooks.value("load_x", node, {"b", "c", "d", "h", "w"}, codegen::Index::of_axes(at(g, {"b", "c"}, {"d", "h", "w"})));
    return;
  }
  const std::string outer =
      fmt::format("(g * {} + {})", hooks.extent(g.transposed ? g.channels : g.filters), g.transposed ? "c" : "f");
  hooks.value("load_w", node, {"g", "f", "c", "d", "h", "w"},
              codegen::Index::of_axes(at(g, {outer, g.transposed ? "f" : "c"}, {"d", "h", "w"})));
}

class Conv final : public Family {
 public:
  std::string_view name() const override { return "conv"; }

  bool fits(const codegen::BufferPlan& plan, const Group& group) const override {
    if (group.anchors.size() != 1 || !ir::is<ir::ConvAttr>(plan.graph[group.anchors[0]])) return false;
    const ir::Node& node = plan.graph[group.anchors[0]];
    if (!is_float(node.dtype) || node.shape.size() < 3 || node.shape.size() > 2 + kSpatial) return false;
    return layout_steps(plan.graph, group, group.anchors[0]).has_value();
  }

  Result<TemplateValues> fill(const Group& group, const TargetContext&, HookWriter& hooks) const override {
    const ir::Graph& graph = hooks.plan().graph;
    const NodeId conv = group.anchors[0];
    const auto steps = layout_steps(graph, group, conv);
    KERF_CHECK(steps, "fill is called for groups that fit");
    const Geometry g = geometry(graph, conv);
    TemplateValues values;
    fill_extents(values, g, hooks);
    fill_operand(values, g, hooks, true);
    fill_operand(values, g, hooks, false);
    set_flag(values, "TRANSPOSED", g.transposed);
    // The zeros around the input of a forward convolution are elements like others: times an infinite weight they are
    // NaN. In a transposed one there is nothing around the input, so products that a template makes up there must not
    // count.
    set_flag(values, "STRICT", g.transposed);
    set_flag(values, "DEPTHWISE", g.channels.is_one() && g.filters.is_one());
    set_flag(values, "F32", hooks.options().compute == DType::f32);
    values.text["REAL"] = std::string(dtype_name(hooks.options().compute));
    set_extent(values, "WORDS", hooks.options().compute == DType::f32 ? 1 : 2, hooks);
    const std::vector<std::string> params{"b", "f", "d", "h", "w"};
    const auto index = index_in_root(*steps, graph[conv].shape, at(g, {"b", "f"}, {"d", "h", "w"}), hooks);
    hooks.store("store", group.root, group.buffer, params, index, {{conv, "total"}});
    set_plain_output(values, group, *steps, params, index, {conv, "total"}, hooks);
    hooks.store("exact", group.root, group.buffer, params, index, {});
    return values;
  }
};

}  // namespace

const Family& conv_family() {
  static const Conv family;
  return family;
}

}  // namespace kerf::synth
