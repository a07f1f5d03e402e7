// Convolutions and pooling.

#include <algorithm>

#include "ir/builder.hpp"
#include "ir/builder_check.hpp"

namespace kerf::ir {
namespace {

Status check_each(const std::vector<std::int64_t>& values, std::size_t count, std::int64_t least,
                  const std::string& what) {
  if (values.size() != count)
    return fail(Errc::invalid_input, what + " needs " + std::to_string(count) + " values, one per spatial axis, not " +
                                         std::to_string(values.size()));
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  for (const auto value : values)
    if (value < least || value > kMost)
      return fail(Errc::invalid_input, what + " " + std::to_string(value) + " is out of range");
  return {};
}

}  // namespace

Result<NodeId> Builder::conv(NodeId x, NodeId w, ConvAttr attr) {
  const Shape input = node(x).shape, weight = node(w).shape;
  const std::string name = attr.transposed ? "conv_transpose" : "conv";
  const auto mismatch = [&](const std::string& why) {
    return fail(Errc::invalid_input,
                name + " of " + to_string(input) + " with weight " + to_string(weight) + ": " + why);
  };
  if (input.size() < 3 || input.size() != weight.size())
    return mismatch("both need a batch or output-channel axis, a channel axis and the same spatial axes");
  const std::size_t spatial = input.size() - 2;
  if (attr.output_padding.empty()) attr.output_padding.assign(spatial, 0);
  KERF_TRY_VOID(check_each(attr.stride, spatial, 1, name + ": stride"));
  KERF_TRY_VOID(check_each(attr.padding, spatial, 0, name + ": padding"));
  KERF_TRY_VOID(check_each(attr.dilation, spatial, 1, name + ": dilation"));
  KERF_TRY_VOID(check_each(attr.output_padding, spatial, 0, name + ": output_padding"));
  KERF_TRY_VOID(require_at_least(*this, attr.groups, 1, name + ": groups"));
  const Dim groups = attr.groups;
  const Dim weight_in = attr.transposed ? weight[0] : weight[1] * groups;
  if (!same_extent(input[1], weight_in))
    return mismatch("the weight is for " + weight_in.to_string() + " input channels, the input has " +
                    input[1].to_string());
  const Dim divided = weight[0];  // forward: output channels; transposed: input channels
  if (!same_extent(floor_div(divided, groups) * groups, divided))
    return mismatch("groups = " + groups.to_string() + " does not divide " + divided.to_string() + " channels");
  Shape shape{input[0], attr.transposed ? weight[1] * groups : weight[0]};
  for (std::size_t d = 0; d < spatial; ++d) {
    const Dim n = input[d + 2], reach = Dim(attr.dilation[d]) * (weight[d + 2] - Dim(1)) + Dim(1);
    const Dim stride = attr.stride[d], padding = 2 * attr.padding[d];
    KERF_TRY_VOID(require_at_least(*this, weight[d + 2], 1, name + ": the kernel extent"));
    if (attr.transposed) {
      if (attr.output_padding[d] >= std::max(attr.stride[d], attr.dilation[d]))
        return mismatch("output_padding must be smaller than the stride or the dilation");
      KERF_TRY_VOID(require_at_least(*this, n, 1, name + ": the input extent"));
      shape.push_back((n - Dim(1)) * stride - padding + reach + Dim(attr.output_padding[d]));
    } else {
      KERF_TRY_VOID(require_at_least(*this, n + padding - reach, 0, name + ": padded input minus kernel extent"));
      shape.push_back(floor_div(n + padding - reach, stride) + Dim(1));
    }
    KERF_TRY_VOID(require_at_least(*this, shape.back(), 1, name + ": the output extent"));
  }
  DType dtype = promote(node(x).dtype, node(w).dtype);
  if (dtype == DType::boolean) dtype = DType::i64;
  x = cast(x, dtype);
  w = cast(w, dtype);
  return add(Node{std::move(attr), dtype, std::move(shape), {x, w}, {}});
}

Result<NodeId> Builder::pool(NodeId x, PoolAttr attr, bool ceil_mode) {
  Shape shape = node(x).shape;
  const std::size_t spatial = attr.kernel.size();
  const std::string what = "pooling of " + to_string(shape);
  if (spatial == 0 || spatial > shape.size()) return fail(Errc::invalid_input, what + ": too many window axes");
  KERF_TRY_VOID(check_each(attr.kernel, spatial, 1, what + ": kernel"));
  KERF_TRY_VOID(check_each(attr.stride, spatial, 1, what + ": stride"));
  KERF_TRY_VOID(check_each(attr.padding, spatial, 0, what + ": padding"));
  KERF_TRY_VOID(check_each(attr.dilation, spatial, 1, what + ": dilation"));
  const std::size_t lead = shape.size() - spatial;
  for (std::size_t d = 0; d < spatial; ++d) {
    if (attr.padding[d] * 2 > attr.kernel[d])
      return fail(Errc::invalid_input, what + ": padding may be at most half of the kernel");
    const Dim n = shape[lead + d], stride = attr.stride[d];
    const Dim slack = n + Dim(2 * attr.padding[d]) - Dim(attr.dilation[d] * (attr.kernel[d] - 1)) - Dim(1);
    KERF_TRY_VOID(require_at_least(*this, slack, 0, what + ": padded input minus window extent"));
    // With ceil_mode the last window must still begin inside the input or its left padding.
    shape[lead + d] = ceil_mode ? min(ceil_div(slack, stride) + Dim(1), ceil_div(n + Dim(attr.padding[d]), stride))
                                : floor_div(slack, stride) + Dim(1);
  }
  if (node(x).dtype == DType::boolean) x = cast(x, DType::i64);
  return add(Node{std::move(attr), node(x).dtype, std::move(shape), {x}, {}});
}

Result<NodeId> Builder::adaptive_pool(PoolOp op, NodeId x, const std::vector<Dim>& output) {
  Shape shape = node(x).shape;
  if (output.empty() || output.size() > shape.size())
    return fail(Errc::invalid_input,
                "adaptive pooling of " + to_string(shape) + " to " + to_string(output) + ": too many output extents");
  const std::size_t lead = shape.size() - output.size();
  for (std::size_t d = 0; d < output.size(); ++d) {
    KERF_TRY_VOID(require_at_least(*this, output[d], 1, "adaptive pooling: the output extent"));
    KERF_TRY_VOID(require_at_least(*this, shape[lead + d], 1, "adaptive pooling: the input extent"));
    shape[lead + d] = output[d];
  }
  if (node(x).dtype == DType::boolean) x = cast(x, DType::i64);
  return add(Node{AdaptivePoolAttr{op, static_cast<int>(output.size())}, node(x).dtype, std::move(shape), {x}, {}});
}

}  // namespace kerf::ir
