#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

TEST(ValidUtf8, KeepsWhatIsWellFormed) {
  const std::string text = "a\n\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80";
  EXPECT_EQ(valid_utf8(text), text);
}

TEST(ValidUtf8, ReplacesEveryBadSequenceByOneMark) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_utf8("a\xFF"
                       "b"),
            "a" + mark + "b");
  EXPECT_EQ(valid_utf8("\xC3"), mark);  // cut short
  EXPECT_EQ(valid_utf8("\xE2\x82"
                       "x"),
            mark + "x");                                                 // cut short inside
  EXPECT_EQ(valid_utf8("\xC0\xAF"), mark + mark);                        // overlong
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), mark + mark + mark);             // half of a surrogate pair
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), mark + mark + mark + mark);  // beyond Unicode
  EXPECT_EQ(valid_utf8("\x80"), mark);
}

TEST(Printable, ShowsNothingThatDrivesATerminal) {
  EXPECT_EQ(printable("a\033[2Jb\x07\r\n\tc"), "a?[2Jb?\n\tc");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "2J"),
            "a?2J");  // a C1 control in UTF-8
  EXPECT_EQ(printable("a\x9B"
                      "2J"),
            "a?2J");  // the same as one byte
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a?b");  // what follows would be read from right to left
  EXPECT_EQ(printable("\xC3\xA4\xE2\x82\xAC"), "\xC3\xA4\xE2\x82\xAC");
}

}  // namespace
}  // namespace kerf
