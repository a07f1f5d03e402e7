#include "propose/synth/families/matmul_axes.hpp"

#include <algorithm>

#include "propose/synth/families/matmul_epilogue.hpp"

namespace kerf::synth {
namespace {

bool contains(const std::vector<int>& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// The one stride of several axes that lie behind each other, last one innermost.
std::optional<Dim> merged_stride(const DirectAccess& access, const ProductAxes& axes, const std::vector<int>& labels,
                                 const std::vector<int>& group) {
  std::optional<Dim> innermost;
  Dim expected = 0;
  for (std::size_t g = group.size(); g-- > 0;) {
    const Dim& extent = axes.extents.at(group[g]);
    if (extent.is_one()) continue;
    const auto axis = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), group[g]) - labels.begin());
    const Dim stride = axis < labels.size() ? access.strides[axis] : Dim(0);
    if (!innermost)
      innermost = stride;
    else if (!(stride == expected))
      return {};
    expected = stride * extent;
  }
  return innermost.value_or(Dim(0));
}

/// Axes of n that come before one of m in the result (filters between images and positions) have no common stride with
/// the rest of n, neither there nor in b. They become batch axes, along which a stays the same.
void separate(ProductAxes& axes) {
  constexpr std::int64_t kNarrow = 32;  // columns: fewer would leave most of a tile empty
  if (axes.m.empty() || !axes.batch.empty()) return;
  const auto at = [&](int label) {
    return std::find(axes.out_labels.begin(), axes.out_labels.end(), label) - axes.out_labels.begin();
  };
  std::vector<int> outer, inner;
  for (const int label : axes.n) (at(label) < at(axes.m.back()) ? outer : inner).push_back(label);
  const Dim columns = axes.extent(inner);
  if (outer.empty() || inner.empty() || (columns.is_constant() && columns.constant() < kNarrow)) return;
  axes.batch = outer;
  axes.n = inner;
}

}  // namespace

Dim ProductAxes::extent(const std::vector<int>& labels) const {
  Dim product = 1;
  for (const int label : labels) product = product * extents.at(label);
  return product;
}

Shape ProductAxes::shape(const std::vector<int>& labels) const {
  Shape result;
  for (const int label : labels) result.push_back(extents.at(label));
  return result;
}

std::optional<ProductAxes> product_axes(const ir::Graph& graph, ir::NodeId contract) {
  const ir::Node& node = graph[contract];
  const auto& labels = ir::attr<ir::ContractAttr>(node);
  ProductAxes axes;
  axes.a = node.args[0];
  axes.b = node.args[1];
  axes.a_labels = labels.lhs;
  axes.b_labels = labels.rhs;
  axes.out_labels = labels.out;
  for (std::size_t d = 0; d < labels.lhs.size(); ++d) axes.extents[labels.lhs[d]] = graph[axes.a].shape[d];
  for (std::size_t d = 0; d < labels.rhs.size(); ++d) axes.extents[labels.rhs[d]] = graph[axes.b].shape[d];
  // Stores are contiguous along n: the operand that has the output's last own axis is b.
  for (auto label = labels.out.rbegin(); label != labels.out.rend(); ++label) {
    const bool in_a = contains(labels.lhs, *label), in_b = contains(labels.rhs, *label);
    if (in_a && in_b) continue;
    if (in_a) {
      std::swap(axes.a, axes.b);
      std::swap(axes.a_labels, axes.b_labels);
    }
    break;
  }
  for (const int label : axes.out_labels) {
    const bool in_a = contains(axes.a_labels, label), in_b = contains(axes.b_labels, label);
    (in_a && in_b ? axes.batch : in_a ? axes.m : axes.n).push_back(label);
  }
  separate(axes);
  for (const int label : axes.a_labels) {
    if (contains(axes.out_labels, label)) continue;
    if (!contains(axes.b_labels, label)) return {};
    axes.k.push_back(label);
  }
  for (const int label : axes.b_labels)
    if (!contains(axes.out_labels, label) && !contains(axes.a_labels, label)) return {};
  return axes;
}

std::optional<MatrixAccess> matrix_access(const HookWriter& hooks, const ProductAxes& axes, ir::NodeId node,
                                          const std::vector<int>& labels, const std::vector<int>& rows,
                                          const std::vector<int>& columns) {
  const auto direct = hooks.direct(node);
  if (!direct || direct->dtype != hooks.options().compute) return {};
  const auto sb = merged_stride(*direct, axes, labels, axes.batch);
  const auto sr = merged_stride(*direct, axes, labels, rows);
  const auto sc = merged_stride(*direct, axes, labels, columns);
  if (!sb || !sr || !sc) return {};
  return MatrixAccess{direct->buffer, direct->pointer, direct->dtype, direct->offset, *sb, *sr, *sc};
}

std::vector<std::string> place(const ProductAxes& axes, const std::vector<int>& labels, HookWriter& hooks,
                               const std::string& batch, const std::string& m, const std::string& n,
                               const std::string& k) {
  std::map<int, std::string> text;
  const auto add = [&](const std::vector<int>& group, const std::string& flat) {
    const auto at = unflatten(flat, axes.shape(group), hooks);
    for (std::size_t g = 0; g < group.size(); ++g) text[group[g]] = at[g];
  };
  add(axes.batch, batch);
  add(axes.m, m);
  add(axes.n, n);
  add(axes.k, k);
  std::vector<std::string> result;
  for (const int label : labels) result.push_back(text.at(label));
  return result;
}

}  // namespace kerf::synth
