#include "codegen/group_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/group_product.hpp"

namespace kerf::codegen {
namespace {

using ir::attr;
using ir::is;
using ir::Node;

constexpr std::int64_t kManyOutputs = 1 << 17;  // as many work items keep a GPU busy by themselves
constexpr std::int64_t kShortLine = 64;         // a line that one work item walks fast enough
constexpr std::int64_t kLongLine = 2048;        // from here on a whole group works on one line
constexpr std::int64_t kChunk = 4096;           // of a line, at least, per group
constexpr std::int64_t kMostChunks = 1024;
constexpr std::int64_t kGroups = 2048;  // enough work-groups for any GPU

std::string_view scan_name(ir::ScanOp op) {
  switch (op) {
    case ir::ScanOp::sum: return "sum";
    case ir::ScanOp::prod: return "prod";
    case ir::ScanOp::max: return "max";
    case ir::ScanOp::min: return "min";
  }
  return "";
}

/// Statements of a launch that combines terms along lines: `lanes` work items per line and chunk.
class LineWriter {
 public:
  LineWriter(GroupWriter& writer, const GroupContext& context) : w_(writer), context_(context) {}

  using Term = std::function<std::string(const std::vector<std::string>& at, const std::string& step)>;

  void reduce(ir::NodeId id, std::string_view op, const LineShape& shape, const Term& term, GroupKernels& out) {
    const std::string type = w_.lowering.type_name(w_.lowering.type_of(id));
    const DType dtype = w_.lowering.type_of(id);
    Code& code = w_.code;
    const Node& node = context_.plan.graph[id];
    const std::int64_t per_group = kGroupThreads / shape.lanes;
    const std::string shared = code.fresh("part"), t = code.let("int", std::string(context_.dialect.local_index));
    code.line(fmt::format("{} {} {}[{}];", context_.dialect.shared_prefix, type, shared, kGroupThreads));
    const std::string lane = code.let("int", fmt::format("{} % {}", t, shape.lanes));
    const std::string item = code.let(
        "kerf_index", fmt::format("{} * {} + {} / {}", context_.dialect.group_index, per_group, t, shape.lanes));
    const std::string total = code.variable(type, w_.lowering.identity(op, dtype));
    const std::string line =
        shape.chunks == 1 ? item : code.let("kerf_index", fmt::format("{} / {}", item, shape.chunks));
    const std::string items = fmt::format("{}LL", shape.lines * shape.chunks);
    const auto at = w_.lowering.axes_of(Index::of_linear(line), node.shape);
    code.open(fmt::format("if ({} < {})", item, items));
    const std::int64_t length = shape.chunk;
    std::string begin = lane, end = fmt::format("{}LL", shape.length);
    if (shape.chunks > 1) {
      const std::string first = code.let("kerf_index", fmt::format("{} % {} * {}LL", item, shape.chunks, length));
      begin = fmt::format("{} + {}", first, lane);
      end =
          code.let("kerf_index", fmt::format("{0} + {1}LL < {2}LL ? {0} + {1}LL : {2}LL", first, length, shape.length));
    }
    const std::string step = code.fresh("r");
    code.open(fmt::format("for (kerf_index {0} = {1}; {0} < {2}; {0} += {3})", step, begin, end, shape.lanes));
    code.line(w_.lowering.combine(op, dtype, total, term(at, step)));
    code.close();
    code.close();
    code.line(fmt::format("{}[{}] = {};", shared, t, total));
    const std::string half = code.fresh("half");
    code.open(fmt::format("for (int {0} = {1}; {0} > 0; {0} /= 2)", half, shape.lanes / 2));
    code.line(fmt::format("{};", context_.dialect.barrier));
    code.open(fmt::format("if ({} < {})", lane, half));
    const std::string mine = fmt::format("{}[{}]", shared, t), other = fmt::format("{}[{} + {}]", shared, t, half);
    code.line(w_.lowering.combine(op, dtype, mine, other));
    code.close();
    code.close();
    code.open(fmt::format("if ({} == 0 && {} < {})", lane, item, items));
    if (shape.chunks == 1)
      w_.lowering.store(context_.kernel.buffer, id, Index::of_axes(at), mine);
    else
      code.line(fmt::format("{}[{}] = {};", context_.partials, item, mine));
    code.close();
    out.launches.push_back(w_.launch((shape.lines * shape.chunks + per_group - 1) / per_group));
    out.launches.back().writes_partials = shape.chunks > 1;
  }

  void scan(ir::NodeId id, std::int64_t lines, GroupKernels& out) {
    const Node& node = context_.plan.graph[id];
    const auto& scan = attr<ir::ScanAttr>(node);
    const auto axis = static_cast<std::size_t>(scan.axis);
    const DType dtype = w_.lowering.type_of(id);
    const std::string op(scan_name(scan.op)), type = w_.lowering.type_name(dtype);
    Code& code = w_.code;
    Shape others = node.shape;
    others[axis] = 1;
    const std::string shared = code.fresh("part"), t = code.let("int", std::string(context_.dialect.local_index));
    const auto barrier = [&] { code.line(fmt::format("{};", context_.dialect.barrier)); };
    code.line(fmt::format("{} {} {}[{}];", context_.dialect.shared_prefix, type, shared, kGroupThreads));
    const std::string line = code.let("kerf_index", std::string(context_.dialect.group_index));
    const auto at = w_.lowering.axes_of(Index::of_linear(line), others);
    const std::string carry = code.variable(type, w_.lowering.identity(op, dtype));
    const std::string count = w_.lowering.extent(node.shape[axis]), base = code.fresh("b");
    code.open(fmt::format("for (kerf_index {0} = 0; {0} < {1}; {0} += {2})", base, count, kGroupThreads));
    const std::string step = code.let("kerf_index", fmt::format("{} + {}", base, t));
    auto own = at;
    own[axis] = scan.reverse ? code.let("kerf_index", fmt::format("{} - 1 - {}", count, step)) : step;
    const std::string value = code.variable(type, w_.lowering.identity(op, dtype));
    code.open(fmt::format("if ({} < {})", step, count));
    const std::string term = w_.lowering.value(node.args[0], Index::of_axes(own));
    code.line(fmt::format("{} = {};", value, w_.lowering.convert(term, w_.lowering.type_of(node.args[0]), dtype)));
    code.close();
    code.line(fmt::format("{}[{}] = {};", shared, t, value));
    const std::string reach = code.fresh("reach");
    code.open(fmt::format("for (int {0} = 1; {0} < {1}; {0} *= 2)", reach, kGroupThreads));
    barrier();
    const std::string before = code.variable(type, w_.lowering.identity(op, dtype));
    code.line(fmt::format("if ({0} >= {1}) {2} = {3}[{0} - {1}];", t, reach, before, shared));
    barrier();
    code.line(w_.lowering.combine(op, dtype, fmt::format("{}[{}]", shared, t), before));
    code.close();
    barrier();
    const std::string result = code.variable(type, carry);
    if (scan.exclusive)
      code.line(fmt::format("if ({} > 0) {{ {} }}", t,
                            w_.lowering.combine(op, dtype, result, fmt::format("{}[{} - 1]", shared, t))));
    else
      code.line(w_.lowering.combine(op, dtype, result, fmt::format("{}[{}]", shared, t)));
    code.open(fmt::format("if ({} < {})", step, count));
    w_.lowering.store(context_.kernel.buffer, id, Index::of_axes(own), result);
    code.close();
    code.line(w_.lowering.combine(op, dtype, carry, fmt::format("{}[{}]", shared, kGroupThreads - 1)));
    barrier();
    code.close();
    out.launches.push_back(w_.launch(lines));
  }

 private:
  GroupWriter& w_;
  const GroupContext& context_;
};

LineShape line_shape(std::int64_t lines, std::int64_t length, DType type) {
  if (type == DType::f32) return {lines, length, 1, (length + kPiece - 1) / kPiece, kPiece};
  const bool may_split = type == DType::f64;
  LineShape shape{lines, length, length < kLongLine ? 32 : kGroupThreads, 1, length};
  if (!may_split || shape.lanes < kGroupThreads || lines == 0) return shape;
  shape.chunks = std::clamp<std::int64_t>(kGroups / lines, 1, std::min(kMostChunks, length / kChunk + 1));
  shape.chunk = (length + shape.chunks - 1) / shape.chunks;
  return shape;
}

/// The second launch of a reduction in chunks: one work item per line adds up what the groups found.
void combine_partials(const GroupContext& context, ir::NodeId id, std::string_view op, const LineShape& shape,
                      GroupKernels& out) {
  GroupWriter w(context);
  const DType dtype = w.lowering.type_of(id);
  const std::string line = w.code.let("kerf_index", fmt::format("{} * {} + {}", context.dialect.group_index,
                                                                kGroupThreads, context.dialect.local_index));
  w.code.open(fmt::format("if ({} < {}LL)", line, shape.lines));
  const std::string total = w.code.variable(w.lowering.type_name(dtype), w.lowering.identity(op, dtype));
  const std::string chunk = w.code.fresh("c");
  w.code.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", chunk, shape.chunks));
  w.code.line(w.lowering.combine(op, dtype, total,
                                 fmt::format("{}[{} * {} + {}]", context.partials, line, shape.chunks, chunk)));
  w.code.close();
  w.lowering.store(context.kernel.buffer, id, Index::of_linear(line), total);
  w.code.close();
  out.launches.push_back(w.launch((shape.lines + kGroupThreads - 1) / kGroupThreads));
  out.launches.back().reads_partials = true;
  out.partials = shape.lines * shape.chunks;
}

void reduce_lines(const GroupContext& context, ir::NodeId id, std::string_view op, const LineShape& shape,
                  const std::function<LineWriter::Term(GroupWriter&)>& term, GroupKernels& out) {
  GroupWriter writer(context);
  LineWriter(writer, context).reduce(id, op, shape, term(writer), out);
  if (shape.chunks > 1) combine_partials(context, id, op, shape, out);
}

GroupKernels reduction(const GroupContext& context) {
  const ir::NodeId id = context.kernel.node;
  const Node& node = context.plan.graph[id];
  const auto& reduce = attr<ir::ReduceAttr>(node);
  if (reduce.axes.size() != 1 || reduce.op == ir::ReduceOp::argmax || reduce.op == ir::ReduceOp::argmin) return {};
  if (context.options.running_sums && (reduce.op == ir::ReduceOp::sum || reduce.op == ir::ReduceOp::prod)) return {};
  const Shape& source = context.plan.graph[node.args[0]].shape;
  const auto axis = static_cast<std::size_t>(reduce.axes[0]);
  const std::int64_t length = context.extent(source[axis]), lines = context.extent(element_count(node.shape));
  bool last = true;  // of the axes that are longer than 1
  for (std::size_t d = axis + 1; d < source.size(); ++d) last &= context.extent(source[d]) == 1;
  if (length < kShortLine || lines < 1 || (!last && lines >= kManyOutputs)) return {};
  const LineShape shape = line_shape(lines, length, value_type(node, context.options));
  GroupKernels out;
  const std::string op(ir::reduce_op_name(reduce.op));
  reduce_lines(
      context, id, op, shape,
      [&](GroupWriter& w) {
        return [&w, &node, &reduce, &source, axis, id](const std::vector<std::string>& at, const std::string& step) {
          std::vector<std::string> own(source.size());
          for (std::size_t d = 0, from = 0; d < source.size(); ++d) {
            own[d] = d == axis ? step : at[from];
            if (d != axis || reduce.keepdims) ++from;
          }
          const ir::NodeId arg = node.args[0];
          return w.lowering.convert(w.lowering.value(arg, Index::of_axes(own)), w.lowering.type_of(arg),
                                    w.lowering.type_of(id));
        };
      },
      out);
  return out;
}

/// A product with few rows or columns: its elements are sums along lines.
GroupKernels thin_product(const GroupContext& context, const Product& product) {
  const ir::NodeId id = context.kernel.node;
  const LineShape shape =
      line_shape(product.groups * product.rows * product.columns, product.depth, context.options.compute);
  if (product.depth < kShortLine || context.options.running_sums) return {};
  GroupKernels out;
  reduce_lines(
      context, id, "sum", shape,
      [&](GroupWriter& w) {
        return [&w, &product](const std::vector<std::string>& at, const std::string& step) {
          return product.term(w, at, step);
        };
      },
      out);
  return out;
}

GroupKernels scan(const GroupContext& context) {
  const Node& node = context.plan.graph[context.kernel.node];
  const auto axis = static_cast<std::size_t>(attr<ir::ScanAttr>(node).axis);
  const std::int64_t length = context.extent(node.shape[axis]);
  const std::int64_t elements = context.extent(element_count(node.shape));
  bool last = true;
  for (std::size_t d = axis + 1; d < node.shape.size(); ++d) last &= context.extent(node.shape[d]) == 1;
  if (length < kGroupThreads || elements < 1 || (!last && elements / length >= kManyOutputs)) return {};
  const DType type = value_type(node, context.options);
  if (type == DType::boolean || type == DType::f32) return {};  // a running sum is its own definition in f32
  GroupWriter writer(context);
  GroupKernels out;
  LineWriter(writer, context).scan(context.kernel.node, elements / length, out);
  return out;
}

}  // namespace

GroupKernels group_kernels(const BufferPlan& plan, const KernelPlan& kernel, const DialectTraits& dialect,
                           const NaiveOptions& options, const std::string& partials) {
  if (options.shape == nullptr || dialect.group_index.empty() || kernel.copy) return {};
  const GroupContext context{plan, kernel, dialect, options, partials};
  const Node& node = plan.graph[kernel.node];
  if (is<ir::ReduceAttr>(node)) return reduction(context);
  if (is<ir::ScanAttr>(node)) return scan(context);
  const std::optional<Product> product = product_of(context);
  if (!product) return {};
  if (std::min(product->rows, product->columns) < 16)
    return product->term ? thin_product(context, *product) : GroupKernels{};
  return tiled_product(context, *product);
}

}  // namespace kerf::codegen
