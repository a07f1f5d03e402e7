#include "ir/dim.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"

namespace kerf {
namespace {

Dim parsed(const std::string& text) {
  auto dim = parse_dim(text);
  EXPECT_TRUE(dim) << (dim ? "" : dim.error().message);
  return dim ? *dim : Dim(-999);
}

std::string refusal(const std::string& text) {
  const auto dim = parse_dim(text);
  return dim ? "accepted" : dim.error().message;
}

TEST(Dim, EqualPolynomialsCompareEqual) {
  EXPECT_EQ(parsed("(a + b) * (a - b)"), parsed("a*a - b*b"));
  EXPECT_EQ(parsed("2*n + n"), parsed("n*3"));
  EXPECT_EQ(parsed("n - n"), Dim(0));
  EXPECT_FALSE(parsed("n") == parsed("m"));
}

TEST(Dim, DivisionTakesOutWhatItDivides) {
  EXPECT_EQ(parsed("(4*n + 6) / 4").to_string(), "n + 1");
  EXPECT_EQ(parsed("rows * cols / cols"), parsed("rows"));
  EXPECT_EQ(parsed("(2*n + 1) / 4"), parsed("n / 2"));
  EXPECT_EQ(parsed("(8*n + 3) % 4"), Dim(3));
}

TEST(Dim, ChainsOfStridedWindowsStayOneDivision) {
  EXPECT_EQ(parsed("((n - 1) / 2 + 1 - 1) / 2 + 1"), parsed("ceil_div(n, 4)"));
  EXPECT_EQ(parsed("ceil_div(ceil_div(n, 2), 3)"), parsed("ceil_div(n, 6)"));
  EXPECT_EQ(parsed("(n + 3) / 4").to_string(), "ceil_div(n, 4)");
}

TEST(Dim, DivisionAndRemainderFloorAsInPython) {
  EXPECT_EQ(parsed("-7 / 2"), Dim(-4));
  EXPECT_EQ(parsed("-7 % 2"), Dim(1));
  const Bindings bindings{{"n", -7}, {"m", 2}};
  EXPECT_EQ(*parsed("n / m").evaluate(bindings), -4);
  EXPECT_EQ(*parsed("n % m").evaluate(bindings), 1);
  EXPECT_EQ(*parsed("ceil_div(n, m)").evaluate(bindings), -3);
}

TEST(Dim, ExtremesOfShiftedArgumentsFold) {
  EXPECT_EQ(parsed("min(n, n + 2)"), parsed("n"));
  EXPECT_EQ(parsed("max(n, n + 2)"), parsed("n + 2"));
  EXPECT_EQ(parsed("max(n, m)"), parsed("max(m, n)"));
}

TEST(Dim, ExtremesHaveEachArgumentOnce) {
  EXPECT_EQ(parsed("max(max(n, m), n)"), parsed("max(n, m)"));
  EXPECT_EQ(parsed("max(max(n, m + 1), max(m, n - 3))"), parsed("max(m + 1, n)"));
  EXPECT_EQ(parsed("min(min(n, min(m, k)), min(k, m))"), parsed("min(k, min(n, m))"));
  EXPECT_NE(parsed("max(min(n, m), k)"), parsed("max(n, max(m, k))"));
}

TEST(Dim, LongExtremesStayShort) {
  // As the scratch buffers of a network grow: every group asks for at least its own size.
  Dim largest = parsed("n");
  Bindings bindings{{"n", 3}, {"m", 2}};
  std::int64_t expected = 3;
  for (int repeat = 0; repeat < 3; ++repeat)
    for (int i = 2; i < 40; ++i) {
      const Dim size = Dim(i) * parsed("n") * parsed("m") + Dim(100 - i) * parsed("m");
      largest = max(size, largest);
      expected = std::max(expected, *size.evaluate(bindings));
    }
  ASSERT_TRUE(largest.evaluate(bindings)) << largest.evaluate(bindings).error().message;
  EXPECT_EQ(*largest.evaluate(bindings), expected);
  EXPECT_LT(largest.to_c().size(), 200'000u);
}

TEST(Dim, ReadsWellForPeople) {
  EXPECT_EQ(parsed("cols*2 - 1").to_string(), "2*cols - 1");
  EXPECT_EQ(parsed("-n + m").to_string(), "m - n");
  EXPECT_EQ(parsed("3 - n").to_string(), "3 - n");
  EXPECT_EQ(parsed("2 * (n / 3)").to_string(), "2*(n / 3)");
  EXPECT_EQ(to_string(Shape{Dim::symbol("rows"), Dim(4)}), "[rows, 4]");
}

TEST(Dim, CFormDividesPlainlyOnlyWhatCannotBeNegative) {
  EXPECT_EQ(parsed("n").to_c(), "n");
  EXPECT_EQ(parsed("n + 1").to_c(), "(n + 1)");
  EXPECT_EQ(parsed("n / 3").to_c(), "(n / 3)");
  EXPECT_NE(parsed("(n - m) / 3").to_c().find('?'), std::string::npos);
  EXPECT_EQ(parsed("min(n, m)").to_c(), "(m < n ? m : n)");
}

TEST(Dim, ErrorsNameTheCause) {
  EXPECT_NE(parsed("n / m").evaluate({{"n", 1}, {"m", 0}}).error().message.find("division by zero"), std::string::npos);
  EXPECT_NE(parsed("n").evaluate({}).error().message.find("'n'"), std::string::npos);
  EXPECT_NE(parsed("n * n").evaluate({{"n", 1LL << 40}}).error().message.find("overflow"), std::string::npos);
  EXPECT_NE(refusal("9223372036854775807 + 1").find("overflow"), std::string::npos);
}

TEST(Dim, OverflowDoesNotCancelOut) {
  const Dim huge = Dim(INT64_MAX) * Dim(2);
  EXPECT_FALSE((huge - huge).evaluate({}));
  EXPECT_FALSE((huge * Dim(0)).evaluate({}));
}

TEST(Dim, LongProductsOfSumsStayProducts) {
  const Dim d = parsed("d - kd + 1"), h = parsed("h - kh + 1"), w = parsed("w - kw + 1"), n = parsed("n");
  EXPECT_EQ((d * h).to_string(), "(d - kd + 1)*(h - kh + 1)");
  EXPECT_EQ(d * h * w * n, n * (w * (h * d)));
  EXPECT_EQ(d * (n * h), n * d * h);
  EXPECT_EQ(parsed((n * d * h * w).to_string()), n * d * h * w);
  EXPECT_EQ(floor_div(n * d * h * w, h * d), n * w);
  EXPECT_EQ(floor_div(n * d * h * w, d), n * h * w);
  EXPECT_EQ(remainder(n * d * h * w, n * w), Dim(0));
  EXPECT_EQ(d * h - h * d, Dim(0));
  const Bindings bindings{{"d", 5}, {"kd", 2}, {"h", 7}, {"kh", 3}, {"w", 6}, {"kw", 1}, {"n", 3}};
  EXPECT_EQ(*(n * d * h * w).evaluate(bindings), 3 * 4 * 5 * 6);
}

TEST(Dim, AnExtentMayBeKnownThoughItsCFormIsTooLong) {
  Dim value = parsed("(d - kd) / 2");
  for (int i = 0; i < 12; ++i) value = floor_div(value - Dim::symbol("m"), Dim::symbol("k"));
  EXPECT_EQ(*value.evaluate({{"d", 9}, {"kd", 1}, {"m", 0}, {"k", 1}}), 4);
  EXPECT_EQ(value.to_c(), "(1 / 0)");
}

TEST(Dim, DecidedLogicFolds) {
  EXPECT_EQ(parsed("1 == 1 || n % 4 == 0"), Dim(1));
  EXPECT_EQ(parsed("1 == 2 && n % 4 == 0"), Dim(0));
}

TEST(Dim, RunawayExpressionsAreRefusedNotExpanded) {
  Dim value = Dim::symbol("n");
  for (int i = 0; i < 200; ++i) value = min(value, value * value + Dim::symbol("m"));
  EXPECT_FALSE(value.evaluate({{"n", 1}, {"m", 1}}));
  EXPECT_LT(value.to_c().size(), 100U);
}

TEST(ParseDim, GivesTheColumnOfAnError) {
  EXPECT_EQ(refusal("n + * 2").substr(0, 9), "column 5:");
  EXPECT_NE(refusal("ceildiv(n, 2)").find("did you mean 'ceil_div'"), std::string::npos);
  EXPECT_NE(refusal("99999999999999999999").find("too large"), std::string::npos);
  EXPECT_NE(refusal(std::string(5000, '(')).find("nested"), std::string::npos);
  EXPECT_NE(refusal("").find("expected"), std::string::npos);
  EXPECT_NE(refusal("n)").find("unexpected ')'"), std::string::npos);
  EXPECT_NE(refusal("min(n)").find("2 arguments"), std::string::npos);
}

TEST(ParseDim, ComparisonsAndLogicGiveZeroOrOne) {
  const Bindings bindings{{"cols", 12}, {"VEC", 4}, {"ZERO", 0}};
  EXPECT_EQ(*parsed("cols % VEC == 0 && VEC <= 4").evaluate(bindings), 1);
  EXPECT_EQ(*parsed("cols > 100 || cols != 12").evaluate(bindings), 0);
  EXPECT_EQ(*parsed("ZERO == 0 || cols % ZERO == 0").evaluate(bindings), 1) << "the left side guards the right";
  EXPECT_EQ(*parsed("next_pow2(cols)").evaluate(bindings), 16);
}

/// A random expression as text; every operator occurs.
std::string random_text(Rng& rng, int depth) {
  if (depth == 0 || rng.integer(0, 4) == 0)
    return rng.integer(0, 1) == 0 ? std::string(1, static_cast<char>('a' + rng.integer(0, 2)))
                                  : std::to_string(rng.integer(0, 9));
  const std::string x = random_text(rng, depth - 1), y = random_text(rng, depth - 1);
  switch (rng.integer(0, 8)) {
    case 0: return "(" + x + " + " + y + ")";
    case 1: return "(" + x + " - " + y + ")";
    case 2: return "(" + x + " * " + y + ")";
    case 3: return "((" + x + ") / (" + std::to_string(rng.integer(1, 5)) + "))";
    case 4: return "((" + x + ") % (" + std::to_string(rng.integer(1, 5)) + "))";
    case 5: return "ceil_div(" + x + ", " + std::to_string(rng.integer(1, 5)) + ")";
    case 6: return "min(" + x + ", " + y + ")";
    case 7: return "max(" + x + ", " + y + ")";
    default: return "(" + x + " <= " + y + ")";
  }
}

TEST(Dim, TextReadsBackAsTheSameValue) {
  Rng rng(11);
  int compared = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_text(rng, 4);
    const auto dim = parse_dim(text);
    if (!dim) continue;
    const auto again = parse_dim(dim->to_string());
    ASSERT_TRUE(again) << text << " -> " << dim->to_string();
    EXPECT_EQ(again->to_string(), dim->to_string()) << text;
    const Bindings bindings{{"a", rng.integer(0, 20)}, {"b", rng.integer(0, 20)}, {"c", rng.integer(0, 20)}};
    EXPECT_EQ(*dim->evaluate(bindings), *again->evaluate(bindings)) << text;
    ++compared;
  }
  EXPECT_GT(compared, 1500);
}

/// A direct evaluator without any rewriting, over the fully parenthesised text that random_text makes.
class PlainEvaluator {
 public:
  PlainEvaluator(const std::string& text, const Bindings& bindings) : text_(text), bindings_(bindings) {}
  std::int64_t sum() {
    std::int64_t left = factor();
    while (true) {
      skip();
      if (take("+"))
        left += factor();
      else if (take("-"))
        left -= factor();
      else if (take("*"))
        left *= factor();
      else if (take("/"))
        left = quotient(left, factor());
      else if (take("%")) {
        const auto by = factor();
        left -= quotient(left, by) * by;
      } else if (take("<="))
        left = left <= factor();
      else
        return left;
    }
  }

 private:
  static std::int64_t quotient(std::int64_t a, std::int64_t b) { return (a - ((a % b) + b) % b) / b; }
  std::int64_t factor() {
    skip();
    for (const auto* name : {"ceil_div(", "min(", "max("}) {
      if (!take(name)) continue;
      const std::int64_t a = sum();
      take(",");
      const std::int64_t b = sum();
      take(")");
      if (std::string(name) == "min(") return std::min(a, b);
      return std::string(name) == "max(" ? std::max(a, b) : -quotient(-a, b);
    }
    if (take("(")) {
      const std::int64_t value = sum();
      skip();
      take(")");
      return value;
    }
    const char first = text_[at_++];
    return first >= 'a' ? bindings_.find(std::string(1, first))->second : first - '0';
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip();
    if (std::string_view(text_).substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  const std::string& text_;
  const Bindings& bindings_;
  std::size_t at_ = 0;
};

TEST(Dim, RewritingNeverChangesTheValue) {
  Rng rng(5);
  for (int i = 0; i < 4000; ++i) {
    const std::string text = random_text(rng, 4);
    const auto dim = parse_dim(text);
    if (!dim) continue;
    const Bindings bindings{{"a", rng.integer(0, 30)}, {"b", rng.integer(0, 30)}, {"c", rng.integer(0, 30)}};
    const auto value = dim->evaluate(bindings);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(*value, PlainEvaluator(text, bindings).sum()) << text << " -> " << dim->to_string();
  }
}

}  // namespace
}  // namespace kerf
