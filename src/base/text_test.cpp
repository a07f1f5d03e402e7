#include "base/text.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

TEST(Nearest, FindsATypo) { EXPECT_EQ(nearest("softmx", {"sum", "softmax", "relu"}), "softmax"); }
TEST(Nearest, TwoSwappedLettersAreOneMistake) { EXPECT_EQ(nearest("gleu", {"glu", "gelu", "elu"}), "gelu"); }
TEST(Nearest, SaysNothingWhenNothingIsNear) { EXPECT_EQ(nearest("zzzz", {"softmax", "relu"}), ""); }

TEST(DidYouMean, IsEmptyWithoutAGuess) {
  EXPECT_EQ(did_you_mean("axs", {"axis"}), " (did you mean 'axis'?)");
  EXPECT_EQ(did_you_mean("q", {"keepdims"}), "");
}

TEST(Split, KeepsEmptyParts) { EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"})); }
TEST(Trim, RemovesBothEnds) { EXPECT_EQ(trim("  a b\n"), "a b"); }

TEST(Counted, AddsAnSUnlessItIsOne) {
  EXPECT_EQ(counted(0, "kernel"), "0 kernels");
  EXPECT_EQ(counted(1, "kernel"), "1 kernel");
  EXPECT_EQ(counted(2, "kernel"), "2 kernels");
}

TEST(IsIdentifier, RefusesDigitsFirstAndEmpty) {
  EXPECT_TRUE(is_identifier("_x1"));
  EXPECT_FALSE(is_identifier("1x"));
  EXPECT_FALSE(is_identifier(""));
}

}  // namespace
}  // namespace kerf
