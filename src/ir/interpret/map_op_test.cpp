// The table of elementwise operators is complete and agrees with itself.

#include "ir/map_op.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "base/text.hpp"
#include "ir/interpret/kernels.hpp"

namespace kerf::ir {
namespace {

TEST(MapOps, NamesAreDistinct) {
  std::set<std::string> stored, callable;
  for (const MapOp op : all_map_ops()) {
    const MapOpFacts& facts = facts_of(op);
    EXPECT_TRUE(stored.insert(std::string(facts.name)).second) << facts.name;
    const std::string signature = facts.signature;
    if (signature.empty()) continue;
    EXPECT_TRUE(callable.insert(signature.substr(0, signature.find('('))).second) << signature;
    EXPECT_EQ(signature.ends_with(facts.arity == 1 ? "(x)" : "(x, y)"), true) << signature;
    for (const auto& other : split(facts.other_names, ' '))
      EXPECT_TRUE(other.empty() || callable.insert(other).second) << other;
  }
  EXPECT_GE(stored.size(), 44u);
}

TEST(MapOps, CostsAndKindsAreWhatTheyWere) {
  EXPECT_TRUE(is_expensive(MapOp::exp) && is_expensive(MapOp::pow) && is_expensive(MapOp::sigmoid));
  EXPECT_FALSE(is_expensive(MapOp::div) || is_expensive(MapOp::sqrt) || is_expensive(MapOp::maximum));
  EXPECT_TRUE(is_comparison(MapOp::less) && !is_comparison(MapOp::logical_xor) && !is_comparison(MapOp::is_nan));
}

/// Both ways to compute an operator on doubles: the loops of the interpreter and the C library.
TEST(MapOps, LanesAgreeWithTheLibrary) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values{0.25, -0.75, 1.0,   2.5,   -3.5,      17.0,       0.0,
                                   1e-3, 100.0, -1e-9, 700.0, kInfinity, -kInfinity, std::nan("")};
  for (const MapOp op : all_map_ops()) {
    const MapOpFacts& facts = facts_of(op);
    if (facts.c.empty() || facts.arguments == Arguments::bools) continue;
    for (const double x : values)
      for (const double y : facts.arity == 2 ? std::vector<double>{0.5, -2.0, 3.0} : std::vector<double>{0.0}) {
        double real = 0;
        std::int64_t whole = 0;
        void* out = facts.gives_bool ? static_cast<void*>(&whole) : static_cast<void*>(&real);
        eval::kernels().map(op, true, 1, &x, facts.arity == 2 ? &y : nullptr, nullptr, out);
        const double lanes = facts.gives_bool ? static_cast<double>(whole) : real, library = map_scalar(op, x, y);
        if (std::isnan(library))
          EXPECT_TRUE(std::isnan(lanes)) << facts.name << "(" << x << ", " << y << ") = " << lanes;
        else if (std::isinf(library) || library == 0)
          EXPECT_EQ(lanes, library) << facts.name << "(" << x << ", " << y << ")";
        else
          EXPECT_NEAR(lanes / library, 1, 1e-14) << facts.name << "(" << x << ", " << y << ")";
      }
  }
}

}  // namespace
}  // namespace kerf::ir
