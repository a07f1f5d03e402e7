#include "codegen/group_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace kerf::codegen {
namespace {

using ir::attr;
using ir::is;
using ir::Node;
using Axes = std::vector<std::string>;

constexpr double kWorthIt = 1 << 20;  // multiply-adds; below, one work item per element is as fast
constexpr int kDepth = 16;            // of a tile
constexpr int kSide = 16;             // work items along a side of a group
constexpr std::int64_t kProductGroups = 512, kShortestChunk = 1024, kMostProductChunks = 256;

/// Labels of a contraction by where they occur, and the extents they stand for.
struct Labels {
  std::vector<int> groups, rows, columns, depth;
  std::map<int, Dim> extents;

  Shape shape(const std::vector<int>& labels) const {
    Shape list;
    for (const int label : labels) list.push_back(extents.at(label));
    return list;
  }
};

bool has(const std::vector<int>& list, int label) { return std::find(list.begin(), list.end(), label) != list.end(); }

/// None when an operand is summed by itself.
std::optional<Labels> labels_of(const GroupContext& context, const Node& node) {
  const auto& contract = attr<ir::ContractAttr>(node);
  Labels labels;
  const auto take = [&](const std::vector<int>& list, ir::NodeId arg) {
    for (std::size_t d = 0; d < list.size(); ++d) labels.extents.emplace(list[d], context.plan.graph[arg].shape[d]);
  };
  take(contract.lhs, node.args[0]);
  take(contract.rhs, node.args[1]);
  for (const auto& [label, extent] : labels.extents) {
    const bool left = has(contract.lhs, label), right = has(contract.rhs, label), out = has(contract.out, label);
    if (!out && left != right) return {};
  }
  for (const int label : contract.out) {
    const bool left = has(contract.lhs, label), right = has(contract.rhs, label);
    (left && right ? labels.groups : left ? labels.rows : labels.columns).push_back(label);
  }
  for (const int label : contract.lhs)
    if (!has(contract.out, label)) labels.depth.push_back(label);
  return labels;
}

/// Position of every label of `labels`, taken from the row-major number `linear`.
void place_labels(GroupWriter& w, const Labels& all, const std::vector<int>& labels, const std::string& linear,
                  std::map<int, std::string>& position) {
  if (labels.empty()) return;
  const Axes axes = w.lowering.axes_of(Index::of_linear(linear), all.shape(labels));
  for (std::size_t i = 0; i < labels.size(); ++i) position[labels[i]] = axes[i];
}

Axes placed(const std::map<int, std::string>& position, const std::vector<int>& labels) {
  Axes axes;
  for (const int label : labels) axes.push_back(position.at(label));
  return axes;
}

std::optional<Product> contraction(const GroupContext& context) {
  const ir::NodeId id = context.kernel.node;
  const Node& node = context.plan.graph[id];
  const auto& contract = attr<ir::ContractAttr>(node);
  const auto found = labels_of(context, node);
  if (!found || found->depth.empty()) return {};
  const Labels labels = *found;
  const auto count = [&](const std::vector<int>& list) { return context.extent(element_count(labels.shape(list))); };
  Product product;
  product.groups = count(labels.groups);
  product.rows = count(labels.rows);
  product.columns = count(labels.columns);
  product.depth = count(labels.depth);
  product.left_along_depth = has(labels.depth, contract.lhs.back());
  product.right_along_depth = has(labels.depth, contract.rhs.back());
  const auto element = [&node, &contract, labels, id](bool left) -> Product::Element {
    return
        [&node, &contract, labels, id, left](GroupWriter& w, const std::string& group, const std::string& index,
                                             const std::string& depth, const std::string& value, const std::string&) {
          std::map<int, std::string> position;
          place_labels(w, labels, labels.groups, group, position);
          place_labels(w, labels, left ? labels.rows : labels.columns, index, position);
          place_labels(w, labels, labels.depth, depth, position);
          const std::string loaded = w.lowering.operand(
              node.args[left ? 0 : 1], placed(position, left ? contract.lhs : contract.rhs), w.lowering.type_of(id));
          w.code.line(fmt::format("{} = {};", value, loaded));
        };
  };
  product.left = element(true);
  product.right = element(false);
  product.place = [&contract, labels](GroupWriter& w, const std::string& group, const std::string& row,
                                      const std::string& column) {
    std::map<int, std::string> position;
    place_labels(w, labels, labels.groups, group, position);
    place_labels(w, labels, labels.rows, row, position);
    place_labels(w, labels, labels.columns, column, position);
    return placed(position, contract.out);
  };
  product.term = [&node, &contract, labels, id](GroupWriter& w, const Axes& at, const std::string& depth) {
    std::map<int, std::string> position;
    for (std::size_t d = 0; d < contract.out.size(); ++d) position[contract.out[d]] = at[d];
    place_labels(w, labels, labels.depth, depth, position);
    const DType type = w.lowering.type_of(id);
    const std::string a = w.lowering.operand(node.args[0], placed(position, contract.lhs), type);
    const std::string b = w.lowering.operand(node.args[1], placed(position, contract.rhs), type);
    return fmt::format("{} * {}", a, b);
  };
  return product;
}

/// Where an element of a convolution's window lies in its input, and whether it does.
struct Window {
  Axes x, taps;
  std::vector<std::string> inside;
};

Window window_of(GroupWriter& w, const ir::ConvAttr& conv, const Shape& x, const Axes& out, const Axes& taps) {
  Window window{{}, taps, {}};
  for (std::size_t d = 0; d < taps.size(); ++d) {
    std::string position;
    if (conv.transposed) {
      position = w.code.let("kerf_index",
                            fmt::format("{} + {} - {} * {}", out[d], conv.padding[d], taps[d], conv.dilation[d]));
      window.inside.push_back(fmt::format("{} >= 0", position));
      if (conv.stride[d] != 1) {
        window.inside.push_back(fmt::format("{} % {} == 0", position, conv.stride[d]));
        position = w.code.let("kerf_index", fmt::format("{} / {}", position, conv.stride[d]));
      }
    } else {
      position = w.code.let("kerf_index", fmt::format("{} * {} + {} * {} - {}", out[d], conv.stride[d], taps[d],
                                                      conv.dilation[d], conv.padding[d]));
      if (conv.padding[d] != 0) window.inside.push_back(fmt::format("{} >= 0", position));
    }
    window.inside.push_back(fmt::format("{} < {}", position, w.lowering.extent(x[d + 2])));
    window.x.push_back(position);
  }
  return window;
}

/// Rows are output positions of all samples, columns the channels of a group, the depth input channels and taps.
std::optional<Product> convolution(const GroupContext& context) {
  const ir::NodeId id = context.kernel.node;
  const Node& node = context.plan.graph[id];
  const auto& conv = attr<ir::ConvAttr>(node);
  const Shape& x = context.plan.graph[node.args[0]].shape;
  const Shape& w_shape = context.plan.graph[node.args[1]].shape;
  const Dim group_in = conv.transposed ? floor_div(w_shape[0], conv.groups) : w_shape[1];
  const Dim group_out = conv.transposed ? w_shape[1] : floor_div(w_shape[0], conv.groups);
  Shape rows{node.shape[0]}, depth{group_in};
  rows.insert(rows.end(), node.shape.begin() + 2, node.shape.end());
  depth.insert(depth.end(), w_shape.begin() + 2, w_shape.end());

  Product product;
  product.groups = context.extent(conv.groups);
  product.rows = context.extent(element_count(rows));
  product.columns = context.extent(group_out);
  product.depth = context.extent(element_count(depth));
  product.right_along_depth = true;
  product.left_may_be_absent = conv.transposed;  // forward, the padding is zeros that count
  const auto channel = [group_in](GroupWriter& w, const std::string& group, const std::string& within) {
    return fmt::format("({} * {} + {})", group, w.lowering.extent(group_in), within);
  };
  product.left = [&node, &conv, &x, rows, depth, channel, id](GroupWriter& w, const std::string& group,
                                                              const std::string& row, const std::string& at,
                                                              const std::string& value, const std::string& present) {
    const Axes out = w.lowering.axes_of(Index::of_linear(row), rows);
    const Axes inner = w.lowering.axes_of(Index::of_linear(at), depth);
    const Window window = window_of(w, conv, x, Axes(out.begin() + 1, out.end()), Axes(inner.begin() + 1, inner.end()));
    Axes place{out[0], w.code.let("kerf_index", channel(w, group, inner[0]))};
    place.insert(place.end(), window.x.begin(), window.x.end());
    w.code.open(fmt::format("if ({})", join(window.inside, " && ")));
    w.code.line(fmt::format("{} = {};", value, w.lowering.operand(node.args[0], place, w.lowering.type_of(id))));
    w.code.close();
    if (!present.empty()) w.code.line(fmt::format("else {} = 0;", present));
  };
  product.right = [&node, &conv, depth, channel, group_out, id](GroupWriter& w, const std::string& group,
                                                                const std::string& column, const std::string& at,
                                                                const std::string& value, const std::string&) {
    const Axes inner = w.lowering.axes_of(Index::of_linear(at), depth);
    const std::string out = w.code.let(
        "kerf_index",
        conv.transposed ? column : fmt::format("({} * {} + {})", group, w.lowering.extent(group_out), column));
    Axes place =
        conv.transposed ? Axes{w.code.let("kerf_index", channel(w, group, inner[0])), out} : Axes{out, inner[0]};
    place.insert(place.end(), inner.begin() + 1, inner.end());
    w.code.line(fmt::format("{} = {};", value, w.lowering.operand(node.args[1], place, w.lowering.type_of(id))));
  };
  product.place = [rows, group_out](GroupWriter& w, const std::string& group, const std::string& row,
                                    const std::string& column) {
    const Axes at = w.lowering.axes_of(Index::of_linear(row), rows);
    Axes place{at[0],
               w.code.let("kerf_index", fmt::format("{} * {} + {}", group, w.lowering.extent(group_out), column))};
    place.insert(place.end(), at.begin() + 1, at.end());
    return place;
  };
  return product;
}

/// Tiles of a product: `side` = 16 * `each` rows and columns per group, `chunks` pieces of the depth.
struct Tiling {
  int each = 4, side = 64;
  std::int64_t row_tiles = 1, column_tiles = 1, chunks = 1, chunk = 1;
};

Tiling tiling_of(const Product& product, bool running_sums) {
  Tiling tiling;
  tiling.each = std::min(product.rows, product.columns) > 64 ? 8 : 4;
  tiling.side = kSide * tiling.each;
  tiling.row_tiles = (product.rows + tiling.side - 1) / tiling.side;
  tiling.column_tiles = (product.columns + tiling.side - 1) / tiling.side;
  const std::int64_t tiles = product.groups * tiling.row_tiles * tiling.column_tiles;
  if (!running_sums)
    tiling.chunks =
        std::clamp<std::int64_t>(kProductGroups / std::max<std::int64_t>(1, tiles), 1,
                                 std::clamp<std::int64_t>(product.depth / kShortestChunk, 1, kMostProductChunks));
  tiling.chunk = (product.depth + tiling.chunks - 1) / tiling.chunks;
  return tiling;
}

class TileWriter {
 public:
  TileWriter(const GroupContext& context, const Product& product)
      : context_(context),
        product_(product),
        tiling_(tiling_of(product, context.options.running_sums)),
        w_(context),
        code_(w_.code) {}

  GroupKernels write() {
    type_ = w_.lowering.type_name(w_.lowering.type_of(context_.kernel.node));
    declare();
    const std::string begin = code_.fresh("k"), end = last();
    code_.open(fmt::format("for (kerf_index {0} = {1}; {0} < {2}; {0} += {3})", begin, first_, end, kDepth));
    load(left_, product_.left, product_.left_along_depth, row0_, product_.rows, begin, end,
         product_.left_may_be_absent ? here_ : "");
    load(right_, product_.right, product_.right_along_depth, column0_, product_.columns, begin, end, "");
    barrier();
    multiply();
    barrier();
    if (!totals_.empty()) {
      code_.open(fmt::format("if (({} - {}) % {} == {})", begin, first_, kPiece, kPiece - kDepth));
      take_totals();
      code_.close();
    }
    code_.close();
    if (!totals_.empty()) {
      take_totals();
      sums_ = totals_;
    }
    store();
    GroupKernels kernels;
    kernels.launches.push_back(w_.launch(product_.groups * tiling_.row_tiles * tiling_.column_tiles * tiling_.chunks));
    if (tiling_.chunks > 1) {
      kernels.launches.back().writes_partials = true;
      kernels.partials = tiling_.chunks * product_.groups * product_.rows * product_.columns;
      kernels.launches.push_back(sum_of_chunks());
    }
    return kernels;
  }

 private:
  void barrier() { code_.line(fmt::format("{};", context_.dialect.barrier)); }
  /// The piece that was summed up joins the total, and the next one begins.
  void take_totals() {
    const std::string i = code_.fresh("i"), j = code_.fresh("j");
    code_.line("#pragma unroll");
    code_.line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", i, tiling_.each));
    code_.line("#pragma unroll");
    code_.line(
        fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{ {2}[{3}][{0}] += {4}[{3}][{0}]; {4}[{3}][{0}] = 0; }}", j,
                    tiling_.each, totals_, i, sums_));
  }
  std::string last() const { return tiling_.chunks == 1 ? fmt::format("{}LL", product_.depth) : end_; }

  void declare() {
    const int stride = tiling_.side + 1;
    left_ = code_.fresh("a");
    right_ = code_.fresh("b");
    sums_ = code_.fresh("sums");
    for (const std::string& name : {left_, right_})
      code_.line(fmt::format("{} {} {}[{}][{}];", context_.dialect.shared_prefix, type_, name, kDepth, stride));
    if (product_.left_may_be_absent) {
      here_ = code_.fresh("here");
      code_.line(fmt::format("{} unsigned char {}[{}][{}];", context_.dialect.shared_prefix, here_, kDepth, stride));
    }
    thread_ = code_.let("int", std::string(context_.dialect.local_index));
    x_ = code_.let("int", fmt::format("{} % {}", thread_, kSide));
    y_ = code_.let("int", fmt::format("{} / {}", thread_, kSide));
    const std::string tile = code_.let("kerf_index", std::string(context_.dialect.group_index));
    column0_ = code_.let("kerf_index", fmt::format("{} % {}LL * {}", tile, tiling_.column_tiles, tiling_.side));
    row0_ = code_.let("kerf_index", fmt::format("{} / {}LL % {}LL * {}", tile, tiling_.column_tiles, tiling_.row_tiles,
                                                tiling_.side));
    const std::string rest =
        code_.let("kerf_index", fmt::format("{} / {}LL", tile, tiling_.column_tiles * tiling_.row_tiles));
    group_ = code_.let("kerf_index", fmt::format("{} % {}LL", rest, product_.groups));
    first_ = "0";
    if (tiling_.chunks > 1) {
      chunk_ = code_.let("kerf_index", fmt::format("{} / {}LL", rest, product_.groups));
      first_ = code_.let("kerf_index", fmt::format("{} * {}LL", chunk_, tiling_.chunk));
      end_ = code_.let("kerf_index",
                       fmt::format("{0} + {1}LL < {2}LL ? {0} + {1}LL : {2}LL", first_, tiling_.chunk, product_.depth));
    }
    code_.line(fmt::format("{} {}[{}][{}] = {{}};", type_, sums_, tiling_.each, tiling_.each));
    if (context_.options.compute == DType::f32 && !context_.options.running_sums && product_.depth > kPiece) {
      totals_ = code_.fresh("totals");
      code_.line(fmt::format("{} {}[{}][{}] = {{}};", type_, totals_, tiling_.each, tiling_.each));
    }
  }

  /// Brings a tile of one operand into shared memory; beyond the operand's end it is 0.
  void load(const std::string& shared, const Product::Element& element, bool along_depth, const std::string& origin,
            std::int64_t count, const std::string& begin, const std::string& end, const std::string& here) {
    const std::string e = code_.fresh("e");
    code_.open(
        fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", e, thread_, kDepth * tiling_.side, kGroupThreads));
    const std::string k =
        code_.let("int", along_depth ? fmt::format("{} % {}", e, kDepth) : fmt::format("{} / {}", e, tiling_.side));
    const std::string i =
        code_.let("int", along_depth ? fmt::format("{} / {}", e, kDepth) : fmt::format("{} % {}", e, tiling_.side));
    const std::string index = code_.let("kerf_index", fmt::format("{} + {}", origin, i));
    const std::string depth = code_.let("kerf_index", fmt::format("{} + {}", begin, k));
    const std::string value = code_.variable(type_, "0");
    const std::string present = here.empty() ? "" : code_.variable("int", "1");
    code_.open(fmt::format("if ({} < {}LL && {} < {})", index, count, depth, end));
    element(w_, group_, index, depth, value, present);
    code_.close();
    code_.line(fmt::format("{}[{}][{}] = {};", shared, k, i, value));
    if (!here.empty()) code_.line(fmt::format("{}[{}][{}] = (unsigned char){};", here, k, i, present));
    code_.close();
  }

  void multiply() {
    const std::string k = code_.fresh("q"), i = code_.fresh("i"), j = code_.fresh("j");
    const std::string a = code_.fresh("u"), b = code_.fresh("v");
    const auto each = [&](const std::string& counter, const std::string& statement) {
      code_.line("#pragma unroll");
      code_.line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}", counter, tiling_.each, statement));
    };
    code_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", k, kDepth));
    code_.line(fmt::format("{} {}[{}], {}[{}];", type_, a, tiling_.each, b, tiling_.each));
    each(i, fmt::format("{}[{}] = {}[{}][{} + {} * {}];", a, i, left_, k, y_, kSide, i));
    each(j, fmt::format("{}[{}] = {}[{}][{} + {} * {}];", b, j, right_, k, x_, kSide, j));
    code_.line("#pragma unroll");
    code_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", i, tiling_.each));
    if (!here_.empty()) code_.line(fmt::format("if ({}[{}][{} + {} * {}] == 0) continue;", here_, k, y_, kSide, i));
    each(j, fmt::format("{0}[{1}][{2}] += {3}[{1}] * {4}[{2}];", sums_, i, j, a, b));
    code_.close();
    code_.close();
  }

  void store() {
    const std::string i = code_.fresh("i"), j = code_.fresh("j");
    for (const std::string& counter : {i, j}) {
      code_.line("#pragma unroll");
      code_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", counter, tiling_.each));
    }
    const std::string row = code_.let("kerf_index", fmt::format("{} + {} + {} * {}", row0_, y_, kSide, i));
    const std::string column = code_.let("kerf_index", fmt::format("{} + {} + {} * {}", column0_, x_, kSide, j));
    const std::string sum = fmt::format("{}[{}][{}]", sums_, i, j);
    code_.open(fmt::format("if ({} < {}LL && {} < {}LL)", row, product_.rows, column, product_.columns));
    if (tiling_.chunks == 1)
      w_.lowering.store(context_.kernel.buffer, context_.kernel.node,
                        Index::of_axes(product_.place(w_, group_, row, column)), sum);
    else
      code_.line(fmt::format("{}[(({} * {}LL + {}) * {}LL + {}) * {}LL + {}] = {};", context_.partials, chunk_,
                             product_.groups, group_, product_.rows, row, product_.columns, column, sum));
    for (int closing = 0; closing < 3; ++closing) code_.close();
  }

  GroupLaunch sum_of_chunks() const {
    GroupWriter w(context_);
    const std::int64_t elements = product_.groups * product_.rows * product_.columns;
    const std::string item = w.code.let("kerf_index", fmt::format("{} * {} + {}", context_.dialect.group_index,
                                                                  kGroupThreads, context_.dialect.local_index));
    w.code.open(fmt::format("if ({} < {}LL)", item, elements));
    const std::string column = w.code.let("kerf_index", fmt::format("{} % {}LL", item, product_.columns));
    const std::string row =
        w.code.let("kerf_index", fmt::format("{} / {}LL % {}LL", item, product_.columns, product_.rows));
    const std::string group =
        w.code.let("kerf_index", fmt::format("{} / {}LL", item, product_.columns * product_.rows));
    const std::string total = w.code.variable(type_, "0"), chunk = w.code.fresh("c");
    w.code.line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2} += {3}[{0} * {4}LL + {5}];", chunk, tiling_.chunks,
                            total, context_.partials, elements, item));
    w.lowering.store(context_.kernel.buffer, context_.kernel.node,
                     Index::of_axes(product_.place(w, group, row, column)), total);
    w.code.close();
    GroupLaunch launch = w.launch((elements + kGroupThreads - 1) / kGroupThreads);
    launch.reads_partials = true;
    return launch;
  }

  const GroupContext& context_;
  const Product& product_;
  const Tiling tiling_;
  GroupWriter w_;
  Code& code_;
  std::string type_, left_, right_, here_, sums_, totals_, thread_, x_, y_, row0_, column0_, group_, chunk_, first_,
      end_;
};

}  // namespace

std::optional<Product> product_of(const GroupContext& context) {
  const Node& node = context.plan.graph[context.kernel.node];
  if (!is_float(value_type(node, context.options))) return {};
  std::optional<Product> product;
  if (is<ir::ContractAttr>(node)) product = contraction(context);
  if (is<ir::ConvAttr>(node)) product = convolution(context);
  if (!product) return {};
  const double work = static_cast<double>(product->groups) * static_cast<double>(product->rows) *
                      static_cast<double>(product->columns) * static_cast<double>(product->depth);
  if (work < kWorthIt) return {};
  return product;
}

GroupKernels tiled_product(const GroupContext& context, const Product& product) {
  return TileWriter(context, product).write();
}

}  // namespace kerf::codegen
