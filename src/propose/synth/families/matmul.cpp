// Matrix products: any contraction, with what is elementwise before and after it.
//
// Templates get the extents BATCH, M, N, K. Per operand X in {A, B}: the hook $load_a($args, b, m, k) or
// $load_b($args, b, k, n); X_DIRECT with X_PTR, X_OFFSET and the strides X_SB, A_SM or B_SN, and X_SK; X_K_FAST when
// neighbours along k are neighbours in memory; X_IN_PLACE when it is direct and neighbours are neighbours in memory
// along the axis in which the host's tiles read it, k for a and n for b; X_VECTOR when it is direct, of floats and of
// stride 1 along one axis; X_ALIGNED, a condition under which four such neighbours can be loaded at once. $store($args,
// b, m, n, sum) finishes an element; Y_IN_ORDER when it lies at Y_PTR[(b * M + m) * N + n]. F32 when sums are floats;
// REAL is their type, WORDS its size in floats.

#include <algorithm>

#include "propose/synth/families/families.hpp"
#include "propose/synth/families/matmul_axes.hpp"
#include "propose/synth/families/matmul_epilogue.hpp"

namespace kerf::synth {
namespace {

using ir::NodeId;

class Matmul final : public Family {
 public:
  std::string_view name() const override { return "matmul"; }

  bool fits(const codegen::BufferPlan& plan, const Group& group) const override {
    if (group.anchors.size() != 1 || !ir::is<ir::ContractAttr>(plan.graph[group.anchors[0]])) return false;
    if (!is_float(plan.graph[group.anchors[0]].dtype)) return false;
    return product_axes(plan.graph, group.anchors[0]) && layout_steps(plan.graph, group, group.anchors[0]);
  }

  Result<TemplateValues> fill(const Group& group, const TargetContext&, HookWriter& hooks) const override {
    const ir::Graph& graph = hooks.plan().graph;
    const NodeId contract = group.anchors[0];
    const auto axes = product_axes(graph, contract);
    const auto steps = layout_steps(graph, group, contract);
    KERF_CHECK(axes && steps, "fill is called for groups that fit");
    TemplateValues values;
    set_extent(values, "BATCH", axes->extent(axes->batch), hooks);
    set_extent(values, "M", axes->extent(axes->m), hooks);
    set_extent(values, "N", axes->extent(axes->n), hooks);
    set_extent(values, "K", axes->extent(axes->k), hooks);
    values.text["REAL"] = std::string(dtype_name(hooks.options().compute));
    set_flag(values, "F32", hooks.options().compute == DType::f32);
    set_extent(values, "WORDS", hooks.options().compute == DType::f32 ? 1 : 2, hooks);
    operand(values, hooks, *axes, true);
    operand(values, hooks, *axes, false);
    const auto at = place(*axes, axes->out_labels, hooks, "b", "m", "n", "");
    hooks.store("store", group.root, group.buffer, {"b", "m", "n"},
                index_in_root(*steps, graph[contract].shape, at, hooks), {{contract, "total"}});
    std::vector<int> in_order = axes->batch;
    in_order.insert(in_order.end(), axes->m.begin(), axes->m.end());
    in_order.insert(in_order.end(), axes->n.begin(), axes->n.end());
    set_flag(values, "Y_IN_ORDER", keeps_order(*steps) && axes->out_labels == in_order);
    values.text["Y_PTR"] = hooks.plan().buffers[static_cast<std::size_t>(group.buffer)].parameter;
    return values;
  }

 private:
  static void operand(TemplateValues& values, HookWriter& hooks, const ProductAxes& axes, bool is_a) {
    const std::string name = is_a ? "A" : "B", own = is_a ? "M" : "N";
    const NodeId node = is_a ? axes.a : axes.b;
    const auto& labels = is_a ? axes.a_labels : axes.b_labels;
    const auto access = matrix_access(hooks, axes, node, labels, is_a ? axes.m : axes.n, axes.k);
    set_flag(values, name + "_DIRECT", access.has_value());
    bool k_fast = !labels.empty() && std::find(axes.k.begin(), axes.k.end(), labels.back()) != axes.k.end();
    bool vector = false;
    if (access) {
      k_fast = access->sc.is_one();
      vector = access->sc.is_one() || access->sr.is_one();
      values.text[name + "_PTR"] = access->pointer;
      set_extent(values, name + "_OFFSET", access->offset, hooks);
      set_extent(values, name + "_SB", access->sb, hooks);
      set_extent(values, name + "_S" + own, access->sr, hooks);
      set_extent(values, name + "_SK", access->sc, hooks);
      const DirectAccess element{access->buffer, access->pointer, access->dtype, access->offset, {}};
      if (is_a)
        hooks.element("load_a", element, {"b", "m", "k"}, {access->sb, access->sr, access->sc});
      else
        hooks.element("load_b", element, {"b", "k", "n"}, {access->sb, access->sc, access->sr});
    } else if (is_a) {
      hooks.value("load_a", node, {"b", "m", "k"},
                  codegen::Index::of_axes(place(axes, labels, hooks, "b", "m", "", "k")));
    } else {
      hooks.value("load_b", node, {"b", "k", "n"},
                  codegen::Index::of_axes(place(axes, labels, hooks, "b", "", "n", "k")));
    }
    set_flag(values, name + "_K_FAST", k_fast);
    set_flag(values, name + "_IN_PLACE", access && (is_a ? access->sc : access->sr).is_one());
    vector = vector && hooks.options().compute == DType::f32;
    set_flag(values, name + "_VECTOR", vector);
    const std::string other = k_fast ? name + "_S" + own : name + "_SK";
    values.text[name + "_ALIGNED"] = vector ? "$" + name + "_OFFSET % 4 == 0 && $" + name + "_SB % 4 == 0 && $" +
                                                  other + " % 4 == 0 && $" + (k_fast ? "K" : own) + " % 4 == 0"
                                            : "0";
  }
};

}  // namespace

const Family& matmul_family() {
  static const Matmul family;
  return family;
}

}  // namespace kerf::synth
