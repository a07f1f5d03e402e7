// Elements chosen by data: gather, and the indices of the largest.

#include "ir/builder.hpp"
#include "ir/builder_check.hpp"

namespace kerf::ir {

Result<NodeId> Builder::gather(NodeId x, NodeId index, int axis) {
  const Shape source = node(x).shape, places = node(index).shape;
  KERF_TRY(axis, normal_axis(axis, source.size(), "gather"));
  const auto mismatch = [&](const std::string& why) {
    return fail(Errc::invalid_input, "gather along axis " + std::to_string(axis) + " of shape " + to_string(source) +
                                         " with indices " + to_string(places) + ": " + why);
  };
  if (!is_integer(node(index).dtype)) return mismatch("the indices must be integers");
  if (places.size() != source.size()) return mismatch("both need the same number of axes");
  Shape shape = source;
  for (std::size_t d = 0; d < source.size(); ++d) {
    if (d == static_cast<std::size_t>(axis))
      shape[d] = places[d];
    else if (!places[d].is_one() && !same_extent(places[d], source[d]))
      return mismatch("they differ along axis " + std::to_string(d));
  }
  KERF_TRY_VOID(require_at_least(*this, source[static_cast<std::size_t>(axis)], 1, "gather: the indexed extent"));
  index = cast(index, DType::i64);
  return add(Node{GatherAttr{axis}, node(x).dtype, std::move(shape), {x, index}, {}});
}

Result<NodeId> Builder::top(NodeId x, int axis, const Dim& count, bool largest) {
  Shape shape = node(x).shape;
  KERF_TRY(axis, normal_axis(axis, shape.size(), "topk"));
  Dim& extent = shape[static_cast<std::size_t>(axis)];
  KERF_TRY_VOID(require_at_least(*this, count, 1, "topk: k"));
  KERF_TRY_VOID(require_at_least(*this, extent - count, 0, "topk: the extent of the axis minus k"));
  extent = count;
  if (node(x).dtype == DType::boolean) x = cast(x, DType::i64);
  return add(Node{TopAttr{axis, largest}, DType::i64, std::move(shape), {x}, {}});
}

}  // namespace kerf::ir
