#include "ir/analysis/error_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/expression/expression.hpp"
#include "ir/interpret/interpreter.hpp"

namespace kerf::ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kUnit = 0x1p-24;

struct Bounded {
  std::vector<double> values, bounds;
};

/// Evaluates `expression` (of y) for one vector x.
Bounded evaluate_bounds(const std::string& expression, const std::vector<double>& x, DType dtype = DType::f32,
                        const ErrorModel& model = {}) {
  const Bindings symbols{{"n", static_cast<std::int64_t>(x.size())}};
  const auto graph = parse_expression(expression, {{"x", dtype, {Dim::symbol("n")}}}, {"y"}, {symbols});
  EXPECT_TRUE(graph) << graph.error().message;
  const auto bounded = with_error_bounds(*graph, model, {symbols});
  EXPECT_TRUE(bounded) << bounded.error().message;
  EXPECT_EQ(bounded->outputs.at(1).name, "y!bound");
  HostTensor input = make_tensor(dtype, {static_cast<std::int64_t>(x.size())});
  for (std::size_t i = 0; i < x.size(); ++i) store_element(dtype, input.bytes.data(), i, x[i]);
  const auto results = interpret(*bounded, std::vector<HostTensor>{input}, symbols);
  EXPECT_TRUE(results) << results.error().message;
  Bounded both;
  for (std::size_t i = 0; i < static_cast<std::size_t>((*results)[0].elements()); ++i) {
    both.values.push_back(load_element((*results)[0].dtype, (*results)[0].bytes.data(), i));
    both.bounds.push_back(load_element((*results)[1].dtype, (*results)[1].bytes.data(), i));
  }
  return both;
}

using Values = std::vector<double>;

TEST(ErrorBounds, AreZeroWhereNothingIsRounded) {
  for (const char* expression : {"y = flip(x, 0)", "y = maximum(-x, 0)", "y = where(x > 0.5, x, 0)", "y = abs(x)",
                                 "y = floor(x)", "y = max(x)", "y = x * 0.5 > 1", "y = concat([x, -x], 0)"})
    for (const double bound : evaluate_bounds(expression, {-1.5, 0, 2, 7}).bounds) EXPECT_EQ(bound, 0) << expression;
}

TEST(ErrorBounds, OfOneProductAreOneRounding) {
  const Bounded result = evaluate_bounds("y = x * 3", {1, -2, 0});
  EXPECT_NEAR(result.bounds[0], 3 * kUnit, 1e-12);
  EXPECT_NEAR(result.bounds[1], 6 * kUnit, 1e-12);
  EXPECT_GT(result.bounds[2], 0);  // may be flushed
  EXPECT_LT(result.bounds[2], 1e-37);
}

TEST(ErrorBounds, OfASumGrowWithTheRootOfItsLength) {
  const Bounded result = evaluate_bounds("y = sum(x)", Values(100, -2.0));
  EXPECT_NEAR(result.bounds[0], (1 + 10 / 2.0) * kUnit * 200, 1e-10);
}

TEST(ErrorBounds, GrowWhereDifferencesCancel) {
  const Bounded result = evaluate_bounds("y = (x * 3 + 1) - x * 3", {1e6, 1});
  EXPECT_GT(result.bounds[0], 2e6 * kUnit);
  EXPECT_LT(result.bounds[1], 20 * kUnit);
}

TEST(ErrorBounds, AreInfiniteOnlyNearJumps) {
  const Bounded result = evaluate_bounds("y = floor(x * 3)", {1.0, 1.1, 1.0 / 3});
  EXPECT_EQ(result.bounds, (Values{kInfinity, 0, kInfinity}));
  EXPECT_EQ(evaluate_bounds("y = round(x * 3)", {0.5, 1.0}).bounds, (Values{kInfinity, 0}));
  EXPECT_EQ(evaluate_bounds("y = trunc(x * 3)", {1e-9, 1.0}).bounds, (Values{0, kInfinity}));
  EXPECT_EQ(evaluate_bounds("y = sign(x * 3 - 3)", {1.0, 1.1}).bounds, (Values{kInfinity, 0}));
  EXPECT_EQ(evaluate_bounds("y = x * 3 > 3", {1.0, 1.1, 0.9}).bounds, (Values{kInfinity, 0, 0}));
  EXPECT_EQ(evaluate_bounds("y = i32(x * 3)", {1.0, 1.1}).bounds, (Values{kInfinity, 0}));
}

TEST(ErrorBounds, OfAnInfinityTimesANumberOtherThanZeroSayThatItIsNotFinite) {
  for (const char* expression : {"y = gelu(x)", "y = mish(x)", "y = x * tanh(x)", "y = x * (x * 3)"}) {
    const Bounded result = evaluate_bounds(expression, {kInfinity, 2});
    EXPECT_EQ(result.values[0], kInfinity) << expression;
    EXPECT_GE(result.bounds[0], 1e19) << expression;
    EXPECT_LE(result.bounds[0], kNotFinite) << expression;
    EXPECT_GT(result.bounds[1], 0) << expression;
  }
  EXPECT_LT(evaluate_bounds("y = x * 3", {kInfinity}).bounds[0], 1e-30) << "nothing but the infinity is computed";
  EXPECT_EQ(evaluate_bounds("y = (x * 3 - 3) * exp(1e9 * x)", {1.0}).bounds[0], kInfinity)
      << "rounded, the first factor may be of either sign";
  const Bounded zero = evaluate_bounds("y = x * exp(-x)", {kInfinity});
  EXPECT_TRUE(std::isnan(zero.values[0]));
}

TEST(ErrorBounds, LeaveNoDoubtThatNaNStays) {
  for (const char* expression : {"y = gelu(x)",
                                 "y = mish(x)",
                                 "y = silu(x)",
                                 "y = x * tanh(x)",
                                 "y = x * x * x",
                                 "y = x * 3 + exp(x)",
                                 "y = tanh(x)",
                                 "y = x / (1 + exp(-x))",
                                 "y = sqrt(x)",
                                 "y = rsqrt(x)",
                                 "y = log(x)",
                                 "y = pow(x, 2.5)",
                                 "y = sin(x)",
                                 "y = erf(x)",
                                 "y = gelu(x, approximate=\"tanh\")",
                                 "y = exp(x) * exp(-x)",
                                 "y = (x * 3) / (x * 5)",
                                 "y = sum(x * 3) * x",
                                 "y = sigmoid(x * 3)",
                                 "y = selu(x)",
                                 "y = log1p(x)"}) {
    const Bounded result = evaluate_bounds(expression, {kNan});
    EXPECT_TRUE(std::isnan(result.values[0])) << expression;
    EXPECT_NE(result.bounds[0], kInfinity) << expression;
  }
}

TEST(ErrorBounds, StaySmallWhereBothBranchesOfADoubtfulChoiceAgree) {
  const Bounded result = evaluate_bounds("z = x * 3 - 3; y = where(z > 0, z, 0.1 * z)", {1.0, 2.0});
  EXPECT_LT(result.bounds[0], 40 * kUnit);
  EXPECT_GT(evaluate_bounds("z = x * 3 - 3; y = where(z > 0, 1, -1)", {1.0}).bounds[0], 1);
}

TEST(ErrorBounds, OfArgReductionsDoubtOnlyRivals) {
  EXPECT_EQ(evaluate_bounds("y = argmax(x * 3)", {1, 2, 3}).bounds, Values{0});
  EXPECT_EQ(evaluate_bounds("y = argmax(x * 3)", {1, 3, 3.0000002}).bounds, Values{kInfinity});
  EXPECT_EQ(evaluate_bounds("y = argmax(x)", {1, 3, 3}).bounds, Values{0});  // exact ties have one answer
  EXPECT_EQ(evaluate_bounds("y = argmin(x)", {1, kNan, 3}).bounds, Values{kInfinity});
}

TEST(ErrorBounds, IgnoreDoubtThatAnotherElementDecides) {
  EXPECT_EQ(evaluate_bounds("y = any(x * 3 > 3)", {1, 2}).bounds, Values{0});
  EXPECT_EQ(evaluate_bounds("y = any(x * 3 > 3)", {1, 0}).bounds, Values{kInfinity});
  EXPECT_EQ(evaluate_bounds("y = all(x * 3 > 3)", {1, 0}).bounds, Values{0});
  EXPECT_EQ(evaluate_bounds("y = count_nonzero(x * 3 > 3)", {1, 0}).bounds, Values{kInfinity});
}

TEST(ErrorBounds, StayFiniteBesideMaskedElements) {
  const Bounded result = evaluate_bounds("y = softmax(where(x > 0, x * 3, -inf), axis=0)", {1, -1, 2});
  EXPECT_EQ(result.values[1], 0);
  for (const double bound : result.bounds) EXPECT_LT(bound, 1e-5);
}

TEST(ErrorBounds, CompareInfinitiesAndNans) {
  for (const char* expression : {"y = x * 3", "y = x + 1", "y = sum(x) + x", "y = exp(x)", "y = x / 7"}) {
    const Bounded result = evaluate_bounds(expression, {kInfinity, 1});
    EXPECT_TRUE(std::isinf(result.values[0])) << expression;
    EXPECT_LT(result.bounds[0], kInfinity) << expression;
    const Bounded nan = evaluate_bounds(expression, {kNan, 1});
    EXPECT_LT(nan.bounds[0], kInfinity) << expression;
  }
  EXPECT_LT(evaluate_bounds("y = 1 / x", {0.0}).bounds[0], kInfinity);  // exact zero: certainly infinite
  EXPECT_EQ(evaluate_bounds("y = 1 / (x * 3 - 3)", {1.0}).bounds[0], kInfinity);
  EXPECT_LT(evaluate_bounds("y = log(x)", {0.0}).bounds[0], kInfinity);
}

TEST(ErrorBounds, AcceptBothWaysToTreatNans) {
  EXPECT_EQ(evaluate_bounds("y = maximum(x * 3, 0)", {kNan}).bounds[0], kInfinity);
  EXPECT_EQ(evaluate_bounds("y = max(x * 3)", {kNan, 1}).bounds[0], kInfinity);
}

TEST(ErrorBounds, DoubtWhatMayOverflow) {
  const Bounded result = evaluate_bounds("y = exp(x)", {100, 10, 1000});
  EXPECT_EQ(result.bounds[0], kInfinity);  // infinite in single precision, finite in double
  EXPECT_LT(result.bounds[1], 1);
  EXPECT_LT(result.bounds[2], kInfinity);  // infinite in both
}

TEST(ErrorBounds, StayFiniteWhereSlopesDoNot) {
  const Bounded result = evaluate_bounds("y = sqrt(maximum(x * 3 - 3, 0))", {1.0, 2.0});
  EXPECT_GT(result.bounds[0], 1e-4);  // the root of a rounding error
  EXPECT_LT(result.bounds[0], 1e-2);
  EXPECT_LT(result.bounds[1], 1e-6);
  EXPECT_LT(evaluate_bounds("y = sqrt(maximum(x * 3, 0))", {-1.0}).bounds[0], 1e-18);  // exactly zero
  EXPECT_LT(evaluate_bounds("y = (x * 3) ** 2", {0.0}).bounds[0], 1e-37);
}

TEST(ErrorBounds, CountTheRoundingOfNarrowStorage) {
  EXPECT_NEAR(evaluate_bounds("y = x * 3", {1.0}, DType::f16).bounds[0], 3 * 0x1p-11, 1e-5);
  EXPECT_NEAR(evaluate_bounds("y = x * 3", {1.0}, DType::bf16).bounds[0], 3 * 0x1p-8, 1e-5);
  EXPECT_EQ(evaluate_bounds("y = -x", {1.0}, DType::f16).bounds[0], 0);
  EXPECT_NEAR(evaluate_bounds("y = f32(f16(x))", {1.0}).bounds[0], 0x1p-11, 1e-6);
  EXPECT_EQ(evaluate_bounds("y = x * 3", {30000}, DType::f16).bounds[0], kInfinity);  // beyond the largest f16
}

TEST(ErrorBounds, KeepTheOrderOfInputsAndOutputs) {
  const Bindings symbols{{"n", 2}};
  const auto graph = parse_expression("p = b + 1; q = a * 3; r = i32(c)",
                                      {{"a", DType::f32, {Dim::symbol("n")}},
                                       {"b", DType::f32, {Dim::symbol("n")}},
                                       {"unused", DType::f32, {Dim::symbol("n")}},
                                       {"c", DType::f32, {Dim::symbol("n")}}},
                                      {"q", "p", "r"}, {symbols});
  ASSERT_TRUE(graph) << graph.error().message;
  const auto bounded = with_error_bounds(*graph, {}, {symbols});
  ASSERT_TRUE(bounded) << bounded.error().message;
  std::vector<std::string> names;
  for (const auto& input : bounded->inputs) names.push_back(input.name);
  for (const auto& output : bounded->outputs) names.push_back(output.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "unused", "c", "q", "q!bound", "p", "p!bound", "r", "r!bound"}));
}

}  // namespace
}  // namespace kerf::ir
