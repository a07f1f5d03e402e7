#include "report/line_diff.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"

namespace kerf::report {
namespace {

std::string flat(const std::vector<DiffLine>& lines) {
  std::string text;
  for (const auto& line : lines) text += line.sign + line.text + "\n";
  return text;
}

std::string side(const std::vector<DiffLine>& lines, char other) {
  std::string text;
  for (const auto& line : lines)
    if (line.sign != other) text += line.text + "\n";
  return text;
}

TEST(LineDiff, ShowsWhatWasAddedRemovedAndKept) {
  EXPECT_EQ(flat(diff_lines("a\nb\nc\n", "a\nx\nc\n")), " a\n-b\n+x\n c\n");
  EXPECT_EQ(flat(diff_lines("", "a\n")), "+a\n");
  EXPECT_EQ(flat(diff_lines("a\n", "")), "-a\n");
  EXPECT_EQ(flat(diff_lines("a\nb", "a\nb\n")), " a\n b\n");
  EXPECT_EQ(flat(diff_lines("", "")), "");
}

TEST(LineDiff, NumbersTheLinesOfBothTexts) {
  const auto lines = diff_lines("a\nb\nc\n", "b\nc\nd\n");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].old_line, 1);
  EXPECT_EQ(lines[0].new_line, 0);
  EXPECT_EQ(lines[1].old_line, 2);
  EXPECT_EQ(lines[1].new_line, 1);
  EXPECT_EQ(lines[3].new_line, 3);
}

TEST(LineDiff, AlwaysRebuildsBothTextsAndFindsTheShortestScript) {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> a, b;
    for (auto* text : {&a, &b})
      for (auto n = rng.integer(0, 12); n > 0; --n)
        text->push_back(std::string(1, static_cast<char>('a' + rng.integer(0, 3))));
    std::string before, after;
    for (const auto& line : a) before += line + "\n";
    for (const auto& line : b) after += line + "\n";
    const auto lines = diff_lines(before, after);
    ASSERT_EQ(side(lines, '+'), before);
    ASSERT_EQ(side(lines, '-'), after);
    std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
    for (std::size_t i = 1; i <= a.size(); ++i)
      for (std::size_t k = 1; k <= b.size(); ++k)
        common[i][k] = a[i - 1] == b[k - 1] ? common[i - 1][k - 1] + 1 : std::max(common[i - 1][k], common[i][k - 1]);
    const auto total = count(lines);
    ASSERT_EQ(total.added + total.removed, static_cast<int>(a.size() + b.size()) - 2 * common[a.size()][b.size()]);
  }
}

TEST(LineDiff, TextsThatShareNothingAreGivenUpQuickly) {
  std::string before, after;
  for (int i = 0; i < 20'000; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(count(diff_lines(before, after)).added, 20'000);
}

TEST(LineDiff, HunksLeaveOutWhatIsFarFromAChange) {
  std::string before;
  for (int i = 0; i < 30; ++i) before += std::to_string(i) + "\n";
  std::string after = before;
  after.replace(after.find("5\n"), 1, "five");
  after.replace(after.find("25\n"), 2, "twenty-five");
  const auto parts = hunks(diff_lines(before, after), 2);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(flat(parts[0]), " 3\n 4\n-5\n+five\n 6\n 7\n");
  EXPECT_EQ(flat(parts[1]), " 23\n 24\n-25\n+twenty-five\n 26\n 27\n");
  EXPECT_TRUE(hunks(diff_lines(before, before), 2).empty());
}

}  // namespace
}  // namespace kerf::report
