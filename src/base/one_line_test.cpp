#include "base/one_line.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

TEST(OneLine, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(one_line("rows/blocks G0=4 (\u03bcs, \u00e4\u00f6, \U0001F600)"),
            "rows/blocks G0=4 (\u03bcs, \u00e4\u00f6, \U0001F600)");
}

TEST(OneLine, EscapesWhatBreaksLinesOrDrivesATerminal) {
  EXPECT_EQ(one_line("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(one_line("\033[2J\x07\x7F"), "\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(one_line("\u009b31m\u2028"), "\\u009b31m\\u2028");
}

TEST(OneLine, EscapesWhatHidesOrReordersText) {
  EXPECT_EQ(one_line("k\u202egpp.\u200b\ufeff"), "k\\u202egpp.\\u200b\\ufeff");
  EXPECT_EQ(one_line("\U000E0041"), "\\ue0041");
}

TEST(OneLine, EscapesBytesThatAreNotText) {
  EXPECT_EQ(one_line("a\xff\xc0\xafz"), "a\\xff\\xc0\\xafz");
  EXPECT_EQ(one_line("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(one_line("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
}

}  // namespace
}  // namespace kerf
