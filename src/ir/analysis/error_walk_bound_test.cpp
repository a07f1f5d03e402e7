// Bounds of errors that walk (ErrorModel::walk).

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/analysis/error_bound.hpp"
#include "ir/expression/expression.hpp"
#include "ir/interpret/interpreter.hpp"

namespace kerf::ir {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();
constexpr double kWalkUnit = 0x1p-24;

/// Bounds of y for one vector x.
std::vector<double> walk_bounds(const std::string& expression, const std::vector<double>& x, bool walk = true) {
  const Bindings symbols{{"n", static_cast<std::int64_t>(x.size())}};
  const auto graph = parse_expression(expression, {{"x", DType::f32, {Dim::symbol("n")}}}, {"y"}, {symbols});
  EXPECT_TRUE(graph) << graph.error().message;
  ErrorModel model;
  model.walk = walk;
  const auto bounded = with_error_bounds(*graph, model, {symbols});
  EXPECT_TRUE(bounded) << bounded.error().message;
  HostTensor input = make_tensor(DType::f32, {static_cast<std::int64_t>(x.size())});
  for (std::size_t i = 0; i < x.size(); ++i) store_element(DType::f32, input.bytes.data(), i, x[i]);
  const auto results = interpret(*bounded, std::vector<HostTensor>{input}, symbols);
  EXPECT_TRUE(results) << results.error().message;
  const HostTensor& bound = results->at(1);
  return {bound.as<double>(), bound.as<double>() + bound.elements()};
}

TEST(WalkingErrors, OfASumAddUpInSquares) {
  // 100 terms with an error of one rounding each: ten of them, beside what the sum itself loses.
  const std::vector<double> ones(100, 1.0);
  const double own = 6 * kWalkUnit * std::sqrt(9 * 100 + 300.0 * 300.0);
  EXPECT_NEAR(walk_bounds("y = sum(x * 3)", ones)[0], kWalkDeviations * std::hypot(own, 30 * kWalkUnit), 1e-9);
}

TEST(WalkingErrors, OfDifferencesAndProductsAddUpInSquares) {
  const auto product = walk_bounds("y = (x * 3) * (x * 5)", {1.0});
  EXPECT_NEAR(product[0], kWalkDeviations * 15 * kWalkUnit * std::sqrt(3), 1e-10);
  const auto difference = walk_bounds("y = x * 3 - x * 5", {1.0});
  EXPECT_NEAR(difference[0], kWalkDeviations * kWalkUnit * std::sqrt(9 + 25 + 4), 1e-10);
}

TEST(WalkingErrors, StayBelowTheWorstCaseInDeepSums) {
  std::string text = "a0 = x";
  for (int i = 0; i < 8; ++i)
    text += "; a" + std::to_string(i + 1) + " = a" + std::to_string(i) + " - sum(a" + std::to_string(i) + ") * 0.01";
  const std::vector<double> x(64, 1.0);
  EXPECT_LT(walk_bounds(text + "; y = a8", x)[0], walk_bounds(text + "; y = a8", x, false)[0]);
}

TEST(WalkingErrors, AreInfiniteNextToJumpsAndWhereADivisorMayBeZero) {
  EXPECT_EQ(walk_bounds("y = floor(x * 3)", {1.0, 1.1}), (std::vector<double>{kUnknown, 0}));
  EXPECT_EQ(walk_bounds("y = x * 3 > 3", {1.0, 1.1}), (std::vector<double>{kUnknown, 0}));
  EXPECT_EQ(walk_bounds("y = 1 / (x * 3 - 3)", {1.0})[0], kUnknown);
  EXPECT_LT(walk_bounds("y = 1 / (x * 3 - 3)", {2.0})[0], 1e-5);
}

TEST(WalkingErrors, OfExactResultsAreNone) {
  for (const char* expression : {"y = flip(x, 0)", "y = maximum(-x, 0)", "y = max(x)"})
    for (const double bound : walk_bounds(expression, {-1.5, 0, 2, 7})) EXPECT_EQ(bound, 0) << expression;
}

}  // namespace
}  // namespace kerf::ir
