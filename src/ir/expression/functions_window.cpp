// Convolutions and pooling over the trailing one to three axes.

#include <algorithm>

#include "ir/expression/functions.hpp"

namespace kerf::ir {
namespace {

/// The digit in "conv2d", "max_pool3d", ...
int spatial_rank(const std::string& name) { return name[name.size() - 2] - '0'; }

/// Adds a batch axis when there is none; `batched` says whether there was one.
T with_batch(Call& call, T x, int rank, bool& batched) {
  batched = x.rank() == rank + 2;
  if (!call.ops.failed() && !batched && x.rank() != rank + 1)
    call.fail("x", "must have " + std::to_string(rank + 2) +
                       " axes [batch, channels, ...], or one less without a batch, not " + to_string(x.shape()));
  return batched || call.ops.failed() ? x : unsqueeze(x, 0);
}

/// Zero padding at both ends of one axis.
T pad_axis(T x, int axis, std::int64_t before, std::int64_t after) {
  if (x.ops->failed() || (before == 0 && after == 0)) return x;
  ViewAttr view;
  view.fill = 0;
  Shape shape = x.shape();
  for (int d = 0; d < x.rank(); ++d) view.axes.push_back({Dim(d == axis ? -before : 0), {{d, 1}}, std::nullopt});
  auto& extent = shape[static_cast<std::size_t>(axis)];
  extent = extent + Dim(before + after);
  return x.ops->view(x, std::move(view), std::move(shape));
}

/// padding="same": as much in front as behind, the odd one behind (through an explicit pad of x).
std::vector<std::int64_t> same_padding(Call& call, T& x, T weight, const ConvAttr& attr) {
  std::vector<std::int64_t> padding;
  for (std::size_t d = 0; d < attr.stride.size() && !call.ops.failed(); ++d) {
    const Dim kernel = weight.extent(static_cast<int>(d) + 2);
    if (attr.stride[d] != 1) call.fail("padding", "\"same\" needs stride 1");
    if (!kernel.is_constant()) call.fail("padding", "\"same\" needs a constant kernel extent");
    if (call.ops.failed() || attr.dilation[d] > (1 << 20) || kernel.constant() > (1 << 20)) break;
    const std::int64_t total = attr.dilation[d] * (kernel.constant() - 1);
    padding.push_back(total / 2);
    if (total % 2 != 0) x = pad_axis(x, static_cast<int>(d) + 2, 0, 1);
  }
  padding.resize(attr.stride.size(), 0);
  return padding;
}

Value convolution(Call& call) {
  const int rank = spatial_rank(call.name());
  const auto count = static_cast<std::size_t>(rank);
  const auto args = call.tensors({"x", "weight"});
  bool batched = true;
  T x = with_batch(call, args[0], rank, batched);
  const T weight = args[1];
  if (!call.ops.failed() && weight.rank() != rank + 2)
    call.fail("weight", "must have " + std::to_string(rank + 2) + " axes, not shape " + to_string(weight.shape()));
  if (call.ops.failed()) return {};
  ConvAttr attr;
  attr.transposed = call.name().find("transpose") != std::string::npos;
  attr.stride = call.per_axis("stride", count);
  attr.dilation = call.per_axis("dilation", count);
  attr.groups = call.extent("groups");
  attr.output_padding = attr.transposed ? call.per_axis("output_padding", count) : std::vector<std::int64_t>(count, 0);
  if (call.value("padding").kind == ValueKind::text && !attr.transposed) {
    const bool same = call.word("padding", {"same", "valid"}) == "same";
    attr.padding = same ? same_padding(call, x, weight, attr) : std::vector<std::int64_t>(count, 0);
  } else {
    attr.padding = call.per_axis("padding", count);
  }
  T result = call.ops.conv(x, weight, std::move(attr));
  if (call.has("bias")) {
    const T bias = call.tensor("bias");
    if (!call.ops.failed() && bias.rank() != 1) call.fail("bias", "must have one axis");
    result = result + along_axis(bias, 1, rank + 2);
  }
  return Value::of(batched ? result : squeeze(result, 0));
}

PoolAttr window(Call& call, PoolOp op) {
  const auto count = static_cast<std::size_t>(spatial_rank(call.name()));
  PoolAttr attr;
  attr.op = op;
  attr.kernel = call.per_axis("kernel_size", count);
  attr.stride = call.has("stride") ? call.per_axis("stride", count) : attr.kernel;
  attr.padding = call.per_axis("padding", count);
  attr.dilation.assign(count, 1);
  return attr;
}

/// Pooling takes [batch, channels, ...] or one axis less.
T pool_input(Call& call) {
  const T x = call.tensor("x");
  const int rank = spatial_rank(call.name());
  if (!call.ops.failed() && x.rank() != rank + 1 && x.rank() != rank + 2)
    call.fail("x", "must have " + std::to_string(rank + 1) + " or " + std::to_string(rank + 2) + " axes, not shape " +
                       to_string(x.shape()));
  return x;
}

Value max_pool(Call& call) {
  const T x = pool_input(call);
  PoolAttr attr = window(call, PoolOp::max);
  attr.dilation = call.per_axis("dilation", attr.kernel.size());
  return Value::of(call.ops.pool(x, std::move(attr), call.flag("ceil_mode")));
}

/// Per output position, the elements of the window along one axis that count: all up to the padded end, or only those
/// inside the input. Shaped to broadcast against the pooled tensor.
T window_count(T pooled, T x, int axis, const PoolAttr& attr, std::size_t d, bool include_padding) {
  Ops& ops = *x.ops;
  Shape shape(static_cast<std::size_t>(pooled.rank() - axis), Dim(1));
  shape[0] = pooled.extent(axis);
  const T start = ops.iota(0, std::move(shape), DType::i64) * static_cast<double>(attr.stride[d]) -
                  static_cast<double>(attr.padding[d]);
  const Dim limit = include_padding ? x.extent(axis) + Dim(attr.padding[d]) : x.extent(axis);
  const T stop = apply(MapOp::minimum, start + static_cast<double>(attr.kernel[d]), ops.value_of(limit, DType::i64));
  return ops.cast(stop - (include_padding ? start : maximum(start, 0)), x.dtype());
}

Value avg_pool(Call& call) {
  const T x = call.ops.to_float(pool_input(call));
  const PoolAttr attr = window(call, PoolOp::sum);
  const bool ceil_mode = call.flag("ceil_mode"), include_padding = call.flag("count_include_pad");
  const T pooled = call.ops.pool(x, attr, ceil_mode);
  if (call.ops.failed()) return {};
  if (call.has("divisor_override")) return Value::of(pooled / call.real("divisor_override"));
  const int rank = static_cast<int>(attr.kernel.size());
  double constant = 1;
  std::optional<T> varying;
  for (std::size_t d = 0; d < attr.kernel.size(); ++d) {
    if (!ceil_mode && (include_padding || attr.padding[d] == 0)) {
      constant *= static_cast<double>(attr.kernel[d]);
      continue;
    }
    const T count = window_count(pooled, x, x.rank() - rank + static_cast<int>(d), attr, d, include_padding);
    varying = varying ? *varying * count : count;
  }
  if (!varying) return Value::of(pooled / constant);
  return Value::of(pooled / (constant == 1 ? *varying : *varying * constant));
}

/// The output extents; `none` keeps the input's.
Shape adaptive_output(Call& call, T x) {
  const int rank = spatial_rank(call.name());
  const Value& given = call.value("output_size");
  Shape output;
  for (int d = 0; d < rank && !call.ops.failed(); ++d) {
    const bool is_list = given.kind == ValueKind::list;
    if (is_list && static_cast<int>(given.items.size()) != rank) {
      call.fail("output_size", "needs " + std::to_string(rank) + " extents");
      break;
    }
    const Value& item = is_list ? given.items[static_cast<std::size_t>(d)] : given;
    if (item.is_none())
      output.push_back(x.extent(x.rank() - rank + d));
    else if (item.kind == ValueKind::extent)
      output.push_back(item.extent);
    else
      call.fail("output_size", "must be integers or none");
  }
  return output;
}

/// Extent of the adaptive window along one axis, per output position.
T adaptive_count(T x, int axis, const Dim& output) {
  Ops& ops = *x.ops;
  const Dim input = x.extent(axis);
  if (remainder(input, output) == Dim(0)) return ops.value_of(floor_div(input, output), x.dtype());
  Shape shape(static_cast<std::size_t>(x.rank() - axis), Dim(1));
  shape[0] = output;
  const T i = ops.iota(0, std::move(shape), DType::i64);
  const T n = ops.value_of(input, DType::i64), m = ops.value_of(output, DType::i64);
  const T start = apply(MapOp::floor_div, i * n, m);
  const T stop = apply(MapOp::floor_div, (i + 1) * n + (m - 1), m);
  return ops.cast(stop - start, x.dtype());
}

bool all_one(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& extent) { return extent.is_one(); });
}

std::vector<int> trailing(int count, int rank) {
  std::vector<int> axes;
  for (int d = rank - count; d < rank; ++d) axes.push_back(d);
  return axes;
}

Value adaptive_avg_pool(Call& call) {
  const T x = call.ops.to_float(pool_input(call));
  const Shape output = adaptive_output(call, x);
  if (call.ops.failed()) return {};
  const int count = static_cast<int>(output.size());
  if (all_one(output)) return Value::of(mean(x, trailing(count, x.rank()), true));
  const T pooled = call.ops.adaptive_pool(PoolOp::sum, x, output);
  if (call.ops.failed()) return {};
  T divisor = adaptive_count(x, x.rank() - count, output[0]);
  for (int d = 1; d < count; ++d)
    divisor = divisor * adaptive_count(x, x.rank() - count + d, output[static_cast<std::size_t>(d)]);
  return Value::of(pooled / divisor);
}

Value adaptive_max_pool(Call& call) {
  const T x = pool_input(call);
  const Shape output = adaptive_output(call, x);
  if (call.ops.failed()) return {};
  if (all_one(output)) return Value::of(max_kept(x, trailing(static_cast<int>(output.size()), x.rank())));
  return Value::of(call.ops.adaptive_pool(PoolOp::max, x, output));
}

template <bool average>
Value global_pool(Call& call) {
  const T x = call.tensor("x");
  if (!call.ops.failed() && x.rank() < 3) call.fail("x", "must be [batch, channels, ...]");
  if (call.ops.failed()) return {};
  const std::vector<int> axes = trailing(x.rank() - 2, x.rank());
  return Value::of(average ? mean(x, axes, true) : max_kept(x, axes));
}

constexpr const char* kConvSummary =
    "Cross-correlation of x[batch, in, ...] with weight[out, in/groups, ...]; padding may be \"same\" or \"valid\".";
constexpr const char* kTransposeSummary =
    "Transposed convolution of x[batch, in, ...] with weight[in, out/groups, ...].";
constexpr const char* kMaxSummary = "Largest element of each window; the stride defaults to the kernel.";
constexpr const char* kAvgSummary = "Mean of each window; the stride defaults to the kernel.";
constexpr const char* kAdaptiveAvgSummary = "Mean of windows that divide the input into output_size parts.";
constexpr const char* kAdaptiveMaxSummary = "Maximum of windows that divide the input into output_size parts.";

}  // namespace

std::span<const FunctionRow> window_functions() {
  static constexpr FunctionRow kRows[] = {
      {"conv1d(x, weight, bias=none, stride=1, padding=0, dilation=1, groups=1)", kConvSummary, convolution},
      {"conv2d(x, weight, bias=none, stride=1, padding=0, dilation=1, groups=1)", kConvSummary, convolution},
      {"conv3d(x, weight, bias=none, stride=1, padding=0, dilation=1, groups=1)", kConvSummary, convolution},
      {"conv_transpose1d(x, weight, bias=none, stride=1, padding=0, output_padding=0, groups=1, dilation=1)",
       kTransposeSummary, convolution},
      {"conv_transpose2d(x, weight, bias=none, stride=1, padding=0, output_padding=0, groups=1, dilation=1)",
       kTransposeSummary, convolution},
      {"conv_transpose3d(x, weight, bias=none, stride=1, padding=0, output_padding=0, groups=1, dilation=1)",
       kTransposeSummary, convolution},
      {"max_pool1d(x, kernel_size, stride=none, padding=0, dilation=1, ceil_mode=false)", kMaxSummary, max_pool,
       kPrimitive},
      {"max_pool2d(x, kernel_size, stride=none, padding=0, dilation=1, ceil_mode=false)", kMaxSummary, max_pool,
       kPrimitive},
      {"max_pool3d(x, kernel_size, stride=none, padding=0, dilation=1, ceil_mode=false)", kMaxSummary, max_pool,
       kPrimitive},
      {"avg_pool1d(x, kernel_size, stride=none, padding=0, ceil_mode=false, count_include_pad=true, "
       "divisor_override=none)",
       kAvgSummary, avg_pool},
      {"avg_pool2d(x, kernel_size, stride=none, padding=0, ceil_mode=false, count_include_pad=true, "
       "divisor_override=none)",
       kAvgSummary, avg_pool},
      {"avg_pool3d(x, kernel_size, stride=none, padding=0, ceil_mode=false, count_include_pad=true, "
       "divisor_override=none)",
       kAvgSummary, avg_pool},
      {"adaptive_avg_pool1d(x, output_size)", kAdaptiveAvgSummary, adaptive_avg_pool},
      {"adaptive_avg_pool2d(x, output_size)", kAdaptiveAvgSummary, adaptive_avg_pool},
      {"adaptive_avg_pool3d(x, output_size)", kAdaptiveAvgSummary, adaptive_avg_pool},
      {"adaptive_max_pool1d(x, output_size)", kAdaptiveMaxSummary, adaptive_max_pool, kPrimitive},
      {"adaptive_max_pool2d(x, output_size)", kAdaptiveMaxSummary, adaptive_max_pool, kPrimitive},
      {"adaptive_max_pool3d(x, output_size)", kAdaptiveMaxSummary, adaptive_max_pool, kPrimitive},
      {"global_avg_pool(x)", "Mean over all positions, kept with extent 1.", global_pool<true>},
      {"global_max_pool(x)", "Maximum over all positions, kept with extent 1.", global_pool<false>, kPrimitive},
  };
  return kRows;
}

}  // namespace kerf::ir
