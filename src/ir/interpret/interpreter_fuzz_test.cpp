// Random graphs: the interpreter against the naive evaluator, on numbers for which both are exact.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.hpp"
#include "ir/builder.hpp"
#include "ir/interpret/interpreter.hpp"
#include "ir/interpret/naive.hpp"

namespace kerf::ir {
namespace {

/// Grows a graph of random nodes. Values stay small integers (in floats or integers), so every sum and product is exact
/// and results must be equal bit for bit however the interpreter groups the work.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed) : rng_(seed) {
    const std::int64_t count = rng_.integer(1, 3);
    for (std::int64_t i = 0; i < count; ++i) {
      constexpr DType kTypes[] = {DType::f32, DType::f64, DType::f16,    DType::bf16,
                                  DType::i32, DType::i64, DType::boolean};
      const DType dtype = kTypes[rng_.integer(0, 6)];
      const auto shape = random_shape();
      nodes_.push_back(builder_.input("x" + std::to_string(i), dtype, shape));
      HostTensor tensor = make_tensor(dtype, constants(shape));
      for (std::int64_t p = 0; p < tensor.elements(); ++p)
        store_element(dtype, tensor.bytes.data(), static_cast<std::size_t>(p),
                      static_cast<double>(rng_.integer(-4, 4)));
      inputs_.push_back(std::move(tensor));
    }
    const std::int64_t steps = rng_.integer(3, 30);
    for (std::int64_t s = 0; s < steps; ++s) grow();
    const std::int64_t outputs = rng_.integer(1, 4);
    for (std::int64_t o = 0; o < outputs; ++o)
      builder_.output("y" + std::to_string(o), o == 0 ? nodes_.back() : pick());
  }

  Graph take() { return builder_.take(); }
  const std::vector<HostTensor>& inputs() const { return inputs_; }

 private:
  static std::vector<std::int64_t> constants(const Shape& shape) {
    std::vector<std::int64_t> extents;
    for (const auto& dim : shape) extents.push_back(dim.constant());
    return extents;
  }
  std::vector<std::int64_t> extents(NodeId node) const { return constants(builder_.node(node).shape); }
  static std::int64_t count(const std::vector<std::int64_t>& e) {
    std::int64_t n = 1;
    for (const auto x : e) n *= x;
    return n;
  }
  Shape random_shape() {
    constexpr std::int64_t kExtents[] = {1, 2, 3, 5, 7, 16, 33, 600, 0};
    Shape shape;
    std::int64_t total = 1;
    const std::int64_t rank = rng_.integer(0, 4);
    for (std::int64_t d = 0; d < rank; ++d) {
      std::int64_t extent = kExtents[rng_.integer(0, rng_.chance(0.03) ? 8 : 7)];
      if (total * extent > 4000) extent = 2;
      total *= extent;
      shape.push_back(extent);
    }
    return shape;
  }
  NodeId pick() {
    // Recent nodes more often: that gives depth.
    const auto n = static_cast<std::int64_t>(nodes_.size());
    const std::int64_t index =
        rng_.chance(0.5) ? rng_.integer(std::max<std::int64_t>(0, n - 4), n - 1) : rng_.integer(0, n - 1);
    return nodes_[static_cast<std::size_t>(index)];
  }
  void keep(const Result<NodeId>& node) {
    if (!node) return;
    if (count(extents(*node)) > 60'000) return;
    nodes_.push_back(*node);
  }
  /// Back to small numbers; exact.
  void keep_small(const Result<NodeId>& node) {
    if (!node || count(extents(*node)) > 60'000) return;
    const DType dtype = builder_.node(*node).dtype;
    if (dtype == DType::boolean) return keep(node);
    keep(builder_.map(MapOp::sub, {*builder_.map(MapOp::remainder, {*node, builder_.constant(9, dtype)}),
                                   builder_.constant(4, dtype)}));
  }

  void grow() {
    switch (rng_.integer(0, 13)) {
      case 0:
      case 1: return binary();
      case 2:
      case 3: return unary();
      case 4: return select();
      case 5:
      case 6: return view();
      case 7: return reduce();
      case 8: return reshape();
      case 9: return scan_or_concat();
      case 10: return contract();
      case 11: return window();
      case 12: return choose();
      default: return creation();
    }
  }
  void binary() {
    constexpr MapOp kOps[] = {MapOp::add,       MapOp::sub,         MapOp::mul,        MapOp::minimum,
                              MapOp::maximum,   MapOp::less,        MapOp::equal,      MapOp::greater_equal,
                              MapOp::not_equal, MapOp::logical_and, MapOp::logical_xor};
    const NodeId a = pick();
    keep_small(builder_.map(kOps[rng_.integer(0, 10)], {a, rng_.chance(0.3) ? a : pick()}));
  }
  void unary() {
    constexpr MapOp kOps[] = {MapOp::neg,   MapOp::abs,         MapOp::sign,  MapOp::floor,
                              MapOp::round, MapOp::logical_not, MapOp::is_nan};
    if (rng_.chance(0.3)) {
      constexpr DType kTypes[] = {DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean};
      return keep(builder_.cast(pick(), kTypes[rng_.integer(0, 4)]));
    }
    keep(builder_.map(kOps[rng_.integer(0, 6)], {pick()}));
  }
  void select() { keep(builder_.map(MapOp::select, {pick(), pick(), pick()})); }
  void creation() {
    if (rng_.chance(0.3)) return keep(builder_.constant(static_cast<double>(rng_.integer(-3, 3)), DType::f32));
    Shape shape = random_shape();
    if (shape.empty()) return;
    const int axis = static_cast<int>(rng_.integer(0, static_cast<std::int64_t>(shape.size()) - 1));
    keep_small(builder_.iota(axis, std::move(shape), rng_.chance(0.5) ? DType::i64 : DType::f32));
  }
  void choose() {
    const NodeId x = pick();
    const auto e = extents(x);
    if (e.empty()) return;
    const int axis = static_cast<int>(rng_.integer(0, static_cast<std::int64_t>(e.size()) - 1));
    const std::int64_t extent = e[static_cast<std::size_t>(axis)];
    if (extent == 0) return;
    const auto indices = builder_.top(x, axis, rng_.integer(1, extent), rng_.chance(0.5));
    if (!indices) return;
    if (rng_.chance(0.3))
      return keep(builder_.gather(x, *builder_.map(MapOp::sub, {*indices, builder_.constant(1, DType::i64)}), axis));
    keep(rng_.chance(0.5) ? builder_.gather(x, *indices, axis) : indices);
  }
  void reshape() {
    const NodeId x = pick();
    Shape flat{count(extents(x))};
    if (rng_.chance(0.3)) return keep(builder_.reshape(x, flat));
    Shape shape;
    std::int64_t left = count(extents(x));
    for (const std::int64_t factor : {2, 3, 5, 7})
      if (left > 0 && left % factor == 0) {
        shape.push_back(factor);
        left /= factor;
      }
    shape.push_back(left);
    keep(builder_.reshape(x, shape));
  }
  void view() {
    const NodeId x = pick();
    const auto e = extents(x);
    const auto rank = static_cast<std::int64_t>(e.size());
    if (rank == 0) return keep(builder_.broadcast_to(x, {3, 5}));
    ViewAttr attr;
    Shape shape;
    switch (rng_.integer(0, 5)) {
      case 0: {  // transpose
        std::vector<int> order;
        for (int d = 0; d < rank; ++d) order.insert(order.begin() + rng_.integer(0, d), d);
        return keep(builder_.transpose(x, order));
      }
      case 1: {  // broadcast
        Shape to = builder_.node(x).shape;
        for (auto& extent : to)
          if (extent.is_one() && rng_.chance(0.7)) extent = rng_.integer(1, 40);
        if (rng_.chance(0.5)) to.insert(to.begin(), rng_.integer(1, 4));
        return keep(builder_.broadcast_to(x, to));
      }
      case 2:  // slice with steps, also backwards
        for (int d = 0; d < rank; ++d) {
          const std::int64_t n = e[static_cast<std::size_t>(d)], step = rng_.integer(1, 3);
          const std::int64_t length = n == 0 ? 0 : rng_.integer(1, (n + step - 1) / step);
          const bool back = rng_.chance(0.4);
          attr.axes.push_back({Dim(back ? (length > 0 ? (length - 1) * step : 0)
                                   : n - 1 - std::max<std::int64_t>(0, length - 1) * step < 0 ? 0
                                                                                              : 0),
                               {{d, back ? -step : step}},
                               {}});
          shape.push_back(length);
        }
        return keep(builder_.view(x, attr, shape));
      case 3:  // pad
        for (int d = 0; d < rank; ++d) {
          const std::int64_t before = rng_.integer(-1, 2), after = rng_.integer(0, 2);
          attr.axes.push_back({Dim(-before), {{d, 1}}, {}});
          shape.push_back(std::max<std::int64_t>(0, e[static_cast<std::size_t>(d)] + before + after));
        }
        attr.fill = static_cast<double>(rng_.integer(0, 1));
        return keep(builder_.view(x, attr, shape));
      case 4:  // roll, some axes
        if (count(e) == 0) return;
        for (int d = 0; d < rank; ++d) {
          const Dim n = e[static_cast<std::size_t>(d)];
          attr.axes.push_back({Dim(rng_.integer(-5, 5)), {{d, rng_.chance(0.8) ? 1 : -1}}, n});
          shape.push_back(n);
        }
        return keep(builder_.view(x, attr, shape));
      default: {  // diagonal, or windows of one axis
        if (count(e) == 0) return;
        if (rank >= 2 && e[0] == e[1]) {
          for (int d = 0; d < rank; ++d) attr.axes.push_back({Dim(0), {{std::max(0, d - 1), 1}}, {}});
          for (int d = 1; d < rank; ++d) shape.push_back(e[static_cast<std::size_t>(d)]);
          return keep(builder_.view(x, attr, shape));
        }
        const std::int64_t n = e[0], size = std::min<std::int64_t>(n, 3);
        attr.axes.push_back({Dim(0), {{0, 1}, {static_cast<int>(rank), 1}}, {}});
        shape.push_back(n - size + 1);
        for (int d = 1; d < rank; ++d) {
          attr.axes.push_back({Dim(0), {{d, 1}}, {}});
          shape.push_back(e[static_cast<std::size_t>(d)]);
        }
        shape.push_back(size);
        return keep(builder_.view(x, attr, shape));
      }
    }
  }
  void reduce() {
    const NodeId x = pick();
    const auto e = extents(x);
    if (e.empty()) return;
    constexpr ReduceOp kOps[] = {ReduceOp::sum,    ReduceOp::max, ReduceOp::min, ReduceOp::argmax,
                                 ReduceOp::argmin, ReduceOp::any, ReduceOp::all, ReduceOp::sum};
    const ReduceOp op = kOps[rng_.integer(0, 7)];
    const bool has_identity = op == ReduceOp::sum || op == ReduceOp::any || op == ReduceOp::all;
    if (count(e) == 0 && !has_identity) return;
    std::vector<int> axes;
    for (int d = 0; d < static_cast<int>(e.size()); ++d)
      if (rng_.chance(0.5)) axes.push_back(d);
    if (op == ReduceOp::argmax || op == ReduceOp::argmin)
      axes = {static_cast<int>(rng_.integer(0, static_cast<std::int64_t>(e.size()) - 1))};
    keep_small(builder_.reduce(op, x, axes, rng_.chance(0.5)));
  }
  void scan_or_concat() {
    const NodeId x = pick();
    const auto rank = static_cast<std::int64_t>(extents(x).size());
    if (rank == 0) return;
    const int axis = static_cast<int>(rng_.integer(0, rank - 1));
    if (rng_.chance(0.5)) return keep(builder_.concat({x, pick(), x}, axis));
    constexpr ScanOp kOps[] = {ScanOp::sum, ScanOp::max, ScanOp::min};
    const ScanOp op = kOps[rng_.integer(0, 2)];
    const bool exclusive = op == ScanOp::sum && rng_.chance(0.5);
    keep_small(builder_.scan({op, axis, exclusive, rng_.chance(0.5)}, x));
  }
  void contract() {
    const NodeId a = pick(), b = pick();
    if (rng_.chance(0.5)) return keep_small(builder_.matmul(a, b));
    const auto ea = extents(a), eb = extents(b);
    ContractAttr attr;  // labels joined where the extents agree
    int next = 0;
    for (std::size_t d = 0; d < ea.size(); ++d) attr.lhs.push_back(next++);
    for (std::size_t d = 0; d < eb.size(); ++d) {
      int label = next++;
      for (std::size_t k = 0; k < ea.size(); ++k)
        if (ea[k] == eb[d] && rng_.chance(0.6) &&
            std::find(attr.rhs.begin(), attr.rhs.end(), static_cast<int>(k)) == attr.rhs.end())
          label = static_cast<int>(k);
      attr.rhs.push_back(label);
    }
    std::int64_t space = count(ea);
    for (std::size_t d = 0; d < eb.size(); ++d)
      if (attr.rhs[d] >= static_cast<int>(ea.size())) space *= eb[d];
    if (space > 300'000) return;
    for (int label = 0; label < next; ++label) {
      const bool used =
          label < static_cast<int>(ea.size()) || std::find(attr.rhs.begin(), attr.rhs.end(), label) != attr.rhs.end();
      if (used && rng_.chance(0.6))
        attr.out.insert(attr.out.begin() + rng_.integer(0, static_cast<std::int64_t>(attr.out.size())), label);
    }
    keep_small(builder_.contract(a, b, attr));
  }
  void window() {
    const NodeId x = pick();
    const auto e = extents(x);
    if (e.size() < 3 || count(e) == 0) return;
    const std::size_t rank = e.size() - 2;
    PoolAttr attr;
    attr.op = rng_.chance(0.5) ? PoolOp::max : PoolOp::sum;
    for (std::size_t d = 0; d < rank; ++d) {
      attr.kernel.push_back(rng_.integer(1, 3));
      attr.stride.push_back(rng_.integer(1, 3));
      attr.padding.push_back(rng_.integer(0, attr.kernel.back() / 2));
      attr.dilation.push_back(rng_.integer(1, 2));
    }
    if (attr.op == PoolOp::sum || rng_.chance(0.5)) {
      if (rng_.chance(0.5)) return keep_small(builder_.pool(x, attr, rng_.chance(0.5)));
      std::vector<Dim> to;
      for (std::size_t d = 0; d < rank; ++d) to.push_back(rng_.integer(1, 4));
      return keep_small(builder_.adaptive_pool(attr.op, x, to));
    }
    ConvAttr conv;
    conv.stride = attr.stride;
    conv.padding = attr.padding;
    conv.dilation = attr.dilation;
    conv.transposed = rng_.chance(0.5);
    conv.groups = e[1] % 2 == 0 && rng_.chance(0.5) ? 2 : 1;
    Shape weight = conv.transposed ? Shape{e[1], 3} : Shape{2 * conv.groups, e[1] / conv.groups.constant()};
    for (const auto k : attr.kernel) weight.push_back(k);
    const NodeId w =
        builder_
            .map(MapOp::remainder, {builder_.iota(static_cast<int>(rng_.integer(0, 1)), weight, DType::i64),
                                    builder_.constant(3, DType::i64)})
            .value();
    if (count(e) * count(constants(weight)) > 2'000'000) return;
    keep_small(builder_.conv(x, w, conv));
  }

  Rng rng_;
  Builder builder_;
  std::vector<NodeId> nodes_;
  std::vector<HostTensor> inputs_;
};

void expect_equal(const naive::Tensor& expected, const HostTensor& actual, const std::string& where) {
  ASSERT_EQ(expected.extents, actual.shape) << where;
  ASSERT_EQ(is_float(actual.dtype), expected.floating) << where;
  for (std::int64_t p = 0; p < actual.elements(); ++p) {
    const auto i = static_cast<std::size_t>(p);
    const double value = load_element(actual.dtype, actual.bytes.data(), i);
    const double wanted = expected.floating ? expected.reals[i] : static_cast<double>(expected.integers[i]);
    ASSERT_TRUE(value == wanted || (value != value && wanted != wanted))
        << where << " at " << p << ": " << value << ", not " << wanted;
  }
}

class RandomGraphs : public testing::TestWithParam<int> {};

TEST_P(RandomGraphs, HaveTheirPlainMeaningOnAnyNumberOfThreads) {
  for (int i = 0; i < 100; ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 100 + i);
    RandomGraph random(seed);
    const Graph graph = random.take();
    const std::string text = "seed " + std::to_string(seed) + "\n" + to_string(graph);
    const auto expected = naive::evaluate(graph, random.inputs(), {});
    for (const int threads : {1, 3}) {
      const auto actual = interpret(graph, random.inputs(), {}, {.threads = threads});
      ASSERT_TRUE(actual) << actual.error().message << "\n" << text;
      for (std::size_t o = 0; o < expected.size(); ++o)
        expect_equal(expected[o], (*actual)[o], text + graph.outputs[o].name);
      if (HasFatalFailure()) return;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::Range(0, 5));

}  // namespace
}  // namespace kerf::ir
