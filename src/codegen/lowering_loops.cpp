// Reductions, scans, contractions, convolutions and pooling as loops of one work item.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/text.hpp"
#include "codegen/group_kernels.hpp"
#include "codegen/lowering.hpp"

namespace kerf::codegen {

using ir::attr;
using ir::Node;
using ir::NodeId;

namespace {

/// Single-precision sums are kept in pieces of this many terms, so that the error of a long sum does not grow with its
/// length.
constexpr int kBlock = kPiece;

std::string_view name_of(ir::ScanOp op) {
  switch (op) {
    case ir::ScanOp::sum: return "sum";
    case ir::ScanOp::prod: return "prod";
    case ir::ScanOp::max: return "max";
    case ir::ScanOp::min: return "min";
  }
  return "";
}

}  // namespace

std::string Lowering::identity(std::string_view op, DType type) const {
  if (op == "any") return "0";
  if (op == "all") return "1";
  if (op == "sum" || op == "prod") {
    const double start = op == "sum" ? 0 : 1;
    return type == DType::boolean ? fmt::format("{}", start) : literal(dialect_, start, type);
  }
  const bool lowest = op == "max";
  if (type == DType::boolean) return lowest ? "0" : "1";
  if (is_float(type)) return literal(dialect_, std::numeric_limits<double>::infinity() * (lowest ? -1.0 : 1.0), type);
  return lowest ? fmt::format("(-{}{} - 1)", std::numeric_limits<std::int64_t>::max(), dialect_.i64_suffix)
                : fmt::format("{}{}", std::numeric_limits<std::int64_t>::max(), dialect_.i64_suffix);
}

std::string Lowering::combine(std::string_view op, DType type, const std::string& total,
                              const std::string& term) const {
  if (op == "any") return fmt::format("if ({} != 0) {} = 1;", term, total);
  if (op == "all") return fmt::format("if ({} == 0) {} = 0;", term, total);
  if (op == "sum" && type == DType::boolean) return fmt::format("if ({} != 0) {} = 1;", term, total);
  if (op == "sum") return fmt::format("{} += {};", total, term);
  if (op == "prod") return fmt::format("{} *= {};", total, term);
  // A NaN replaces the total and is never replaced by a number.
  const std::string or_nan = is_float(type) ? fmt::format(" || {0} != {0}", term) : "";
  return fmt::format("if ({0} {2} {1}{3}) {1} = {0};", term, total, op == "max" ? ">" : "<", or_nan);
}

std::string Lowering::open_loop(const std::string& begin, const std::string& end) {
  const std::string counter = code_.fresh("r");
  code_.open(fmt::format("for (kerf_index {0} = {1}; {0} < {2}; ++{0})", counter, begin, end));
  return counter;
}

/// Opens the innermost loop of a sum; `accumulator` becomes the variable its body adds to.
void Lowering::open_sum(const Dim& count, DType type, std::string& accumulator, std::string& counter, bool& blocked) {
  blocked = type == DType::f32 && !options_.running_sums && !(count.is_constant() && count.constant() <= kBlock);
  if (!blocked) {
    counter = open_loop("0", extent(count));
    return;
  }
  const std::string end = extent(count), block = code_.fresh("b");
  code_.open(fmt::format("for (kerf_index {0} = 0; {0} < {1}; {0} += {2})", block, end, kBlock));
  const std::string block_end =
      code_.let("kerf_index", fmt::format("{0} + {1} < {2} ? {0} + {1} : {2}", block, kBlock, end));
  accumulator = code_.variable(type_name(type), literal(dialect_, 0, type));
  counter = open_loop(block, block_end);
}

void Lowering::close_sum(const std::string& total, const std::string& accumulator, bool blocked) {
  code_.close();
  if (!blocked) return;
  code_.line(fmt::format("{} += {};", total, accumulator));
  code_.close();
}

std::string Lowering::reduce_value(NodeId id, const Axes& at) {
  const Node& n = node(id);
  const auto& reduce = attr<ir::ReduceAttr>(n);
  const NodeId arg = n.args[0];
  const Shape& source = node(arg).shape;
  const DType type = type_of(id), arg_type = type_of(arg);
  const std::string op(ir::reduce_op_name(reduce.op));
  const bool finds = reduce.op == ir::ReduceOp::argmax || reduce.op == ir::ReduceOp::argmin;

  Axes own(source.size());
  std::vector<bool> reduced(source.size(), false);
  for (const int axis : reduce.axes) reduced[static_cast<std::size_t>(axis)] = true;
  for (std::size_t d = 0, out = 0; d < source.size(); ++d)
    if (!reduced[d])
      own[d] = at[out++];
    else if (reduce.keepdims)
      ++out;

  const std::string total = code_.variable(type_name(type), finds ? literal(dialect_, 0, type) : identity(op, type));
  if (reduce.axes.empty()) {  // nothing to reduce: one term
    code_.line(combine(op, type, total, convert(value(arg, Index::of_axes(own)), arg_type, type)));
    return total;
  }
  const std::string best = finds ? code_.variable(type_name(arg_type), "0") : "";
  for (std::size_t k = 0; k + 1 < reduce.axes.size(); ++k) {
    const auto axis = static_cast<std::size_t>(reduce.axes[k]);
    own[axis] = open_loop("0", extent(source[axis]));
  }
  const auto last = static_cast<std::size_t>(reduce.axes.back());
  std::string accumulator = total;
  bool blocked = false;
  if (reduce.op == ir::ReduceOp::sum)
    open_sum(source[last], type, accumulator, own[last], blocked);
  else
    own[last] = open_loop("0", extent(source[last]));
  const std::string term = value(arg, Index::of_axes(own));
  if (finds) {
    const std::string first_nan =
        is_float(arg_type) ? fmt::format(" || ({0} != {0} && {1} == {1})", term, best) : std::string();
    code_.open(fmt::format("if ({} == 0 || {} {} {}{})", own[last], term, reduce.op == ir::ReduceOp::argmax ? ">" : "<",
                           best, first_nan));
    code_.line(fmt::format("{} = {};", best, term));
    code_.line(fmt::format("{} = {};", total, own[last]));
    code_.close();
  } else {
    code_.line(combine(op, type, accumulator, convert(term, arg_type, type)));
  }
  close_sum(total, accumulator, blocked);
  for (std::size_t k = 0; k + 1 < reduce.axes.size(); ++k) code_.close();
  return total;
}

void Lowering::scan_line(NodeId id, const std::vector<std::string>& line, int buffer) {
  const Node& n = node(id);
  const auto& scan = attr<ir::ScanAttr>(n);
  const auto axis = static_cast<std::size_t>(scan.axis);
  const DType type = type_of(id);
  const std::string total = code_.variable(type_name(type), identity(name_of(scan.op), type));
  const std::string count = extent(n.shape[axis]);
  const std::string step = open_loop("0", count);
  Axes own = line;
  own[axis] = scan.reverse ? code_.let("kerf_index", fmt::format("{} - 1 - {}", count, step)) : step;
  const Index here = Index::of_axes(own);
  if (scan.exclusive) store(buffer, id, here, total);
  code_.line(combine(name_of(scan.op), type, total, convert(value(n.args[0], here), type_of(n.args[0]), type)));
  if (!scan.exclusive) store(buffer, id, here, total);
  code_.close();
}

std::string Lowering::operand(NodeId id, Axes at, DType type) {
  const std::string loaded = convert(value(id, Index::of_axes(std::move(at))), type_of(id), type);
  if (options_.operand_rounding == OperandRounding::none || !is_float(type)) return loaded;
  uses_.helpers.insert("round_operand");
  return code_.let(type_name(type), fmt::format("kerf_round_operand({})", loaded));
}

std::string Lowering::contract_value(NodeId id, const Axes& at) {
  const Node& n = node(id);
  const auto& contract = attr<ir::ContractAttr>(n);
  const DType type = type_of(id);
  std::map<int, std::string> position;  // label -> index
  for (std::size_t d = 0; d < contract.out.size(); ++d) position[contract.out[d]] = at[d];
  std::vector<std::pair<int, Dim>> summed;
  const auto collect = [&](const std::vector<int>& labels, NodeId arg) {
    for (std::size_t d = 0; d < labels.size(); ++d)
      if (position.emplace(labels[d], "").second) summed.emplace_back(labels[d], node(arg).shape[d]);
  };
  collect(contract.lhs, n.args[0]);
  collect(contract.rhs, n.args[1]);

  const std::string total = code_.variable(type_name(type), identity("sum", type));
  std::string accumulator = total;
  bool blocked = false;
  for (std::size_t k = 0; k + 1 < summed.size(); ++k)
    position[summed[k].first] = open_loop("0", extent(summed[k].second));
  if (!summed.empty()) open_sum(summed.back().second, type, accumulator, position[summed.back().first], blocked);
  const auto place = [&](const std::vector<int>& labels) {
    Axes own;
    for (const int label : labels) own.push_back(position[label]);
    return own;
  };
  const std::string a = operand(n.args[0], place(contract.lhs), type);
  const std::string b = operand(n.args[1], place(contract.rhs), type);
  code_.line(combine("sum", type, accumulator, fmt::format("{} * {}", a, b)));
  if (!summed.empty()) close_sum(total, accumulator, blocked);
  for (std::size_t k = 0; k + 1 < summed.size(); ++k) code_.close();
  return total;
}

std::string Lowering::conv_value(NodeId id, const Axes& at) {
  const Node& n = node(id);
  const auto& conv = attr<ir::ConvAttr>(n);
  const Shape& x = node(n.args[0]).shape;
  const Shape& w = node(n.args[1]).shape;
  const DType type = type_of(id);
  const std::size_t spatial = x.size() - 2;
  const std::string total = code_.variable(type_name(type), identity("sum", type));

  // Channels of one group: inputs it reads, outputs it makes.
  const Dim group_in = conv.transposed ? floor_div(w[0], conv.groups) : w[1];
  const Dim group_out = conv.transposed ? w[1] : floor_div(w[0], conv.groups);
  const std::string group =
      conv.groups.is_one() ? "0" : code_.let("kerf_index", fmt::format("{} / {}", at[1], extent(group_out)));
  const std::string channel = open_loop("0", extent(group_in));
  const std::string input_channel =
      conv.groups.is_one() ? channel
                           : code_.let("kerf_index", fmt::format("{} * {} + {}", group, extent(group_in), channel));
  Axes x_at{at[0], input_channel};
  Axes w_at = conv.transposed
                  ? Axes{input_channel, conv.groups.is_one()
                                            ? at[1]
                                            : code_.let("kerf_index", fmt::format("{} % {}", at[1], extent(group_out)))}
                  : Axes{at[1], channel};
  std::vector<std::string> taps;
  for (std::size_t d = 0; d < spatial; ++d) taps.push_back(open_loop("0", extent(w[d + 2])));
  std::vector<std::string> inside;
  for (std::size_t d = 0; d < spatial; ++d) {
    std::string position;
    if (conv.transposed) {
      const std::string reached = code_.let(
          "kerf_index", fmt::format("{} + {} - {} * {}", at[d + 2], conv.padding[d], taps[d], conv.dilation[d]));
      inside.push_back(fmt::format("{} >= 0", reached));
      if (conv.stride[d] != 1) inside.push_back(fmt::format("{} % {} == 0", reached, conv.stride[d]));
      position =
          conv.stride[d] == 1 ? reached : code_.let("kerf_index", fmt::format("{} / {}", reached, conv.stride[d]));
    } else {
      position = code_.let("kerf_index", fmt::format("{} * {} + {} * {} - {}", at[d + 2], conv.stride[d], taps[d],
                                                     conv.dilation[d], conv.padding[d]));
      if (conv.padding[d] != 0) inside.push_back(fmt::format("{} >= 0", position));
    }
    inside.push_back(fmt::format("{} < {}", position, extent(x[d + 2])));
    x_at.push_back(position);
    w_at.push_back(taps[d]);
  }
  // Around the input of a forward convolution there are zeros, which count (times an infinite weight they are NaN);
  // around that of a transposed one there is nothing.
  const std::string padded =
      conv.transposed || inside.empty() ? "" : code_.variable(type_name(type), literal(dialect_, 0, type));
  if (!inside.empty()) code_.open(fmt::format("if ({})", join(inside, " && ")));
  const std::string a = operand(n.args[0], x_at, type);
  if (!padded.empty()) {
    code_.line(fmt::format("{} = {};", padded, a));
    code_.close();
  }
  const std::string b = operand(n.args[1], w_at, type);
  code_.line(combine("sum", type, total, fmt::format("{} * {}", padded.empty() ? a : padded, b)));
  if (padded.empty() && !inside.empty()) code_.close();
  for (std::size_t d = 0; d < spatial + 1; ++d) code_.close();
  return total;
}

std::string Lowering::pool_value(NodeId id, const Axes& at) {
  const Node& n = node(id);
  const auto& pool = attr<ir::PoolAttr>(n);
  const NodeId arg = n.args[0];
  const Shape& source = node(arg).shape;
  const DType type = type_of(id);
  const std::string_view op = pool.op == ir::PoolOp::max ? "max" : "sum";
  const std::size_t lead = source.size() - pool.kernel.size();
  const std::string total = code_.variable(type_name(type), identity(op, type));
  Axes own(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(lead));
  std::vector<std::string> inside;
  for (std::size_t d = 0; d < pool.kernel.size(); ++d) {
    const std::string tap = open_loop("0", fmt::format("{}", pool.kernel[d]));
    own.push_back(code_.let("kerf_index", fmt::format("{} * {} + {} * {} - {}", at[lead + d], pool.stride[d], tap,
                                                      pool.dilation[d], pool.padding[d])));
    inside.push_back(fmt::format("{0} >= 0 && {0} < {1}", own.back(), extent(source[lead + d])));
  }
  if (!inside.empty()) code_.open(fmt::format("if ({})", join(inside, " && ")));
  code_.line(combine(op, type, total, convert(value(arg, Index::of_axes(own)), type_of(arg), type)));
  if (!inside.empty()) code_.close();
  for (std::size_t d = 0; d < pool.kernel.size(); ++d) code_.close();
  return total;
}

std::string Lowering::adaptive_pool_value(NodeId id, const Axes& at) {
  const Node& n = node(id);
  const auto& pool = attr<ir::AdaptivePoolAttr>(n);
  const NodeId arg = n.args[0];
  const Shape& source = node(arg).shape;
  const DType type = type_of(id);
  const std::string_view op = pool.op == ir::PoolOp::max ? "max" : "sum";
  const std::size_t lead = source.size() - static_cast<std::size_t>(pool.rank);
  const std::string total = code_.variable(type_name(type), identity(op, type));
  Axes own(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(lead));
  for (std::size_t d = lead; d < source.size(); ++d) {
    const std::string from = extent(source[d]), to = extent(n.shape[d]);
    const std::string begin = code_.let("kerf_index", fmt::format("{} * {} / {}", at[d], from, to));
    const std::string end = code_.let("kerf_index", fmt::format("(({} + 1) * {} + {} - 1) / {}", at[d], from, to, to));
    own.push_back(open_loop(begin, end));
  }
  code_.line(combine(op, type, total, convert(value(arg, Index::of_axes(own)), type_of(arg), type)));
  for (std::size_t d = lead; d < source.size(); ++d) code_.close();
  return total;
}

}  // namespace kerf::codegen
