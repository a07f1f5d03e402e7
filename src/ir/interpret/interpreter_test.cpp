#include "ir/interpret/interpreter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "ir/builder.hpp"

namespace kerf::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

HostTensor f64_tensor(std::vector<std::int64_t> shape, const std::vector<double>& values) {
  HostTensor tensor = make_tensor(DType::f64, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.as<double>());
  return tensor;
}

std::vector<double> numbers(const HostTensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    values.push_back(load_element(tensor.dtype, tensor.bytes.data(), static_cast<std::size_t>(i)));
  return values;
}

/// The only output of a graph over one f64 input "x".
HostTensor apply(const HostTensor& x, const std::function<Result<NodeId>(Builder&, NodeId)>& build,
                 InterpretOptions options = {}) {
  Builder builder;
  Shape shape(x.shape.begin(), x.shape.end());
  const NodeId in = builder.input("x", x.dtype, shape);
  builder.output("y", build(builder, in).value());
  return std::move(interpret(builder.take(), std::span(&x, 1), {}, options).value().front());
}

TEST(Interpreter, MaximumAndMinimumOfANanIsNan) {
  const HostTensor x = f64_tensor({4}, {1, kNan, -kInf, 3});
  const auto with_two = [](MapOp op) {
    return [op](Builder& b, NodeId in) { return b.map(op, {in, b.constant(2, DType::f64)}); };
  };
  EXPECT_TRUE(std::isnan(numbers(apply(x, with_two(MapOp::maximum)))[1]));
  EXPECT_TRUE(std::isnan(numbers(apply(x, with_two(MapOp::minimum)))[1]));
  EXPECT_EQ(numbers(apply(x, with_two(MapOp::maximum)))[2], 2);
}

TEST(Interpreter, TheFirstNanIsTheExtremeOfItsRow) {
  const HostTensor x = f64_tensor({3, 4}, {1, kNan, 9, kNan, 5, 7, 7, 5, -kInf, -kInf, -kInf, -kInf});
  const auto reduce = [](ReduceOp op) { return [op](Builder& b, NodeId in) { return b.reduce(op, in, {1}, false); }; };
  EXPECT_EQ(numbers(apply(x, reduce(ReduceOp::argmax))), (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(numbers(apply(x, reduce(ReduceOp::argmin))), (std::vector<double>{1, 0, 0}));
  EXPECT_TRUE(std::isnan(numbers(apply(x, reduce(ReduceOp::max)))[0]));
  EXPECT_EQ(numbers(apply(x, reduce(ReduceOp::max)))[2], -kInf);
}

TEST(Interpreter, RemainderTakesTheSignOfTheDivisorAndRoundingGoesToEven) {
  const HostTensor x = f64_tensor({4}, {-7, 7, 2.5, -0.5});
  const auto with = [](MapOp op, double y) {
    return [=](Builder& b, NodeId in) { return b.map(op, {in, b.constant(y, DType::f64)}); };
  };
  EXPECT_EQ(numbers(apply(x, with(MapOp::remainder, 3))), (std::vector<double>{2, 1, 2.5, 2.5}));
  EXPECT_EQ(numbers(apply(x, with(MapOp::remainder, -3))), (std::vector<double>{-1, -2, -0.5, -0.5}));
  EXPECT_EQ(numbers(apply(x, with(MapOp::floor_div, 3))), (std::vector<double>{-3, 2, 0, -1}));
  EXPECT_EQ(numbers(apply(x, [](Builder& b, NodeId in) { return b.map(MapOp::round, {in}); })),
            (std::vector<double>{-7, 7, 2, 0}));
}

TEST(Interpreter, FloorDivisionIsExactWhereTheQuotientRoundsUp) {
  const HostTensor x = f64_tensor({1}, {1.0});  // 1 / 0.1 rounds to 10, but 10 * 0.1 (as stored) exceeds 1
  EXPECT_EQ(numbers(apply(x, [](Builder& b,
                                NodeId in) { return b.map(MapOp::floor_div, {in, b.constant(0.1, DType::f64)}); }))[0],
            9);
}

TEST(Interpreter, SumsKeepWhatNaiveSummationLoses) {
  // A million small numbers beside a large one that cancels.
  std::vector<double> values(1'000'002, 1e-8);
  values.front() = 1e8;
  values.back() = -1e8;
  const HostTensor x = f64_tensor({1'000'002}, values);
  const double sum =
      numbers(apply(x, [](Builder& b, NodeId in) { return b.reduce(ReduceOp::sum, in, {0}, false); }))[0];
  EXPECT_NEAR(sum, 1e-2, 1e-6);
  const HostTensor column = f64_tensor({500'001, 2}, values);
  const auto sums =
      numbers(apply(column, [](Builder& b, NodeId in) { return b.reduce(ReduceOp::sum, in, {0}, false); }));
  EXPECT_NEAR(sums[0] - 1e8, 5e-3, 1e-7);
}

TEST(Interpreter, AnInfiniteSumIsInfiniteNotNan) {
  const HostTensor x = f64_tensor({2, 3}, {1, kInf, 2, kInf, 1, -kInf});
  const auto sums = numbers(apply(x, [](Builder& b, NodeId in) { return b.reduce(ReduceOp::sum, in, {1}, false); }));
  EXPECT_EQ(sums[0], kInf);
  EXPECT_TRUE(std::isnan(sums[1]));
}

TEST(Interpreter, ResultsDoNotDependOnTheNumberOfThreads) {
  Rng rng(5);
  HostTensor x = make_tensor(DType::f32, {257, 1031});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.as<float>()[i] = static_cast<float>(rng.normal());
  Builder builder;
  const NodeId in = builder.input("x", DType::f32, {257, 1031});
  const NodeId e = builder.map(MapOp::exp, {in}).value();
  builder.output("rows", builder.reduce(ReduceOp::sum, e, {1}, true).value());
  builder.output("cols", builder.reduce(ReduceOp::sum, e, {0}, false).value());
  builder.output("all", builder.reduce(ReduceOp::sum, e, {}, false).value());
  builder.output("product", builder.contract(in, e, {{0, 1}, {2, 1}, {0, 2}}).value());
  builder.output("scan", builder.scan({ScanOp::sum, 0, false, false}, e).value());
  const Graph graph = builder.take();
  const auto one = interpret(graph, std::span(&x, 1), {}, {.threads = 1}).value();
  for (const int threads : {2, 3, 7}) {
    const auto many = interpret(graph, std::span(&x, 1), {}, {.threads = threads}).value();
    for (std::size_t o = 0; o < one.size(); ++o) EXPECT_EQ(one[o].bytes, many[o].bytes) << graph.outputs[o].name;
  }
}

TEST(Interpreter, EmptyTensorsHaveEmptyResultsAndEmptySumsAreZero) {
  const HostTensor x = make_tensor(DType::f64, {0, 3});
  EXPECT_EQ(apply(x, [](Builder& b, NodeId in) { return b.map(MapOp::exp, {in}); }).elements(), 0);
  EXPECT_EQ(numbers(apply(x, [](Builder& b, NodeId in) { return b.reduce(ReduceOp::sum, in, {0}, false); })),
            (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(numbers(apply(x, [](Builder& b, NodeId in) { return b.reduce(ReduceOp::prod, in, {}, false); })),
            (std::vector<double>{1}));
  const auto product = apply(x, [](Builder& b, NodeId in) { return b.matmul(b.transpose(in, {1, 0}).value(), in); });
  EXPECT_EQ(numbers(product), std::vector<double>(9, 0));
}

TEST(Interpreter, AnEmptyMaximumIsRefusedWhenOnlyTheBindingsShowIt) {
  Builder builder;
  const NodeId in = builder.input("x", DType::f32, {Dim::symbol("n")});
  builder.output("y", builder.reduce(ReduceOp::max, in, {0}, false).value());
  const HostTensor x = make_tensor(DType::f32, {0});
  const auto result = interpret(builder.take(), std::span(&x, 1), {{"n", 0}});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("max over no elements"), std::string::npos) << result.error().message;
}

TEST(Interpreter, MemoryBeyondTheLimitIsRefusedWithTheSizes) {
  const HostTensor x = make_tensor(DType::f32, {1024, 1024});
  Builder builder;
  const NodeId in = builder.input("x", DType::f32, {1024, 1024});
  builder.output("y", builder.matmul(in, in).value());
  const Graph graph = builder.take();
  const auto refused = interpret(graph, std::span(&x, 1), {}, {.max_bytes = 4 << 20});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  EXPECT_NE(refused.error().message.find("[1024, 1024]"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(interpret(graph, std::span(&x, 1), {}, {.max_bytes = 9 << 20}));
}

TEST(Interpreter, IntermediatesAreFreedWhenTheirLastReaderIsDone) {
  // Twenty matrix products in a row need two results of 2 MiB at a time, not twenty.
  Builder builder;
  NodeId y = builder.input("x", DType::f64, {4096, 64});
  const NodeId w = builder.input("w", DType::f64, {64, 64});
  for (int i = 0; i < 20; ++i) y = builder.matmul(y, w).value();
  builder.output("y", y);
  const std::vector<HostTensor> inputs{make_tensor(DType::f64, {4096, 64}), make_tensor(DType::f64, {64, 64})};
  const auto result = interpret(builder.take(), inputs, {}, {.max_bytes = 7 << 20});
  EXPECT_TRUE(result) << result.error().message;
}

TEST(Interpreter, WrongInputsAreNamed) {
  Builder builder;
  builder.output("y", builder.input("weights", DType::f32, {Dim::symbol("n"), 2}));
  const Graph graph = builder.take();
  const auto message = [&](const HostTensor& x) {
    const auto result = interpret(graph, std::span(&x, 1), {{"n", 3}});
    return result ? std::string("accepted") : result.error().message;
  };
  EXPECT_EQ(message(make_tensor(DType::f32, {3, 2})), "accepted");
  EXPECT_EQ(message(make_tensor(DType::f64, {3, 2})), "input 'weights' is f64, the reference takes f32");
  EXPECT_EQ(message(make_tensor(DType::f32, {2, 3})), "input 'weights' has shape [2, 3], the reference takes [3, 2]");
  EXPECT_FALSE(interpret(graph, {}, {{"n", 3}}));
  EXPECT_FALSE(interpret(graph, {}, {}));
}

TEST(Interpreter, NarrowInputsAreTakenExactlyAndOutputsAreWide) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    HostTensor x = make_tensor(dtype, {2000});
    for (std::size_t i = 0; i < 2000; ++i)
      store_element(dtype, x.bytes.data(), i,
                    std::ldexp(1.0 + static_cast<double>(i) / 3000, static_cast<int>(i % 40) - 30));
    store_element(dtype, x.bytes.data(), 7, kInf);
    store_element(dtype, x.bytes.data(), 8, -0.0);
    const HostTensor y = apply(x, [](Builder& b, NodeId in) { return b.map(MapOp::neg, {in}); });
    EXPECT_EQ(y.dtype, DType::f64);
    for (std::size_t i = 0; i < 2000; ++i) EXPECT_EQ(y.as<double>()[i], -load_element(dtype, x.bytes.data(), i));
  }
}

TEST(Interpreter, AnOutputMayBeAnInputAConstantOrNamedTwice) {
  Builder builder;
  const NodeId in = builder.input("x", DType::i32, {2, 3});
  builder.output("a", in);
  builder.output("b", builder.reshape(in, {6}).value());
  builder.output("c", builder.constant(4, DType::f32));
  const NodeId doubled = builder.map(MapOp::add, {in, in}).value();
  builder.output("d", doubled);
  builder.output("e", builder.reshape(doubled, {3, 2}).value());
  HostTensor x = make_tensor(DType::i32, {2, 3});
  for (int i = 0; i < 6; ++i) x.as<std::int32_t>()[i] = i;
  const auto y = interpret(builder.take(), std::span(&x, 1), {}).value();
  EXPECT_EQ(numbers(y[0]), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(y[1].shape, (std::vector<std::int64_t>{6}));
  EXPECT_EQ(y[1].dtype, DType::i64);
  EXPECT_EQ(numbers(y[2]), (std::vector<double>{4}));
  EXPECT_EQ(numbers(y[3]), numbers(y[4]));
  EXPECT_EQ(y[4].shape, (std::vector<std::int64_t>{3, 2}));
}

TEST(Interpreter, ChainsOfAnyLengthAreEvaluated) {
  const HostTensor x = f64_tensor({2}, {0, 1});
  const auto y = apply(x, [](Builder& b, NodeId in) -> Result<NodeId> {
    NodeId node = in;
    for (int i = 0; i < 20'000; ++i) node = b.map(MapOp::add, {node, b.constant(i % 7 - 3, DType::f64)}).value();
    return node;
  });
  EXPECT_EQ(y.as<double>()[1] - y.as<double>()[0], 1);
}

TEST(Interpreter, InfiniteWeightsOfTransposedConvolutionsMeetOnlyInputsThatAreThere) {
  Builder builder;
  const NodeId x = builder.input("x", DType::f64, {Dim(1), Dim(1), Dim(3)});
  const NodeId w = builder.input("w", DType::f64, {Dim(1), Dim(1), Dim(2)});
  ConvAttr conv;
  conv.stride = {2};
  conv.padding = {0};
  conv.dilation = {1};
  conv.output_padding = {1};
  conv.transposed = true;
  builder.output("y", builder.conv(x, w, conv).value());
  const std::vector<HostTensor> inputs{f64_tensor({1, 1, 3}, {1, -kInf, 0}), f64_tensor({1, 1, 2}, {kInf, 2})};
  const auto result = interpret(builder.take(), inputs, {}, {});
  ASSERT_TRUE(result) << result.error().message;
  const auto y = numbers(result->front());  // inputs land at 0, 2, 4 with both weights; place 6 is reached by none
  ASSERT_EQ(y.size(), 7u);
  EXPECT_EQ(y[0], kInf);
  EXPECT_EQ(y[1], 2);
  EXPECT_EQ(y[2], -kInf);
  EXPECT_EQ(y[3], -kInf);
  EXPECT_TRUE(std::isnan(y[4]));  // 0 times infinity
  EXPECT_EQ(y[5], 0);
  EXPECT_EQ(y[6], 0);
}

}  // namespace
}  // namespace kerf::ir
