#include "model/candidate.hpp"

#include <gtest/gtest.h>

#include "base/hash.hpp"

namespace kerf {
namespace {

std::string with_header(const std::string& entries) { return "// softmax\n/* kerf\n" + entries + "*/\nint code;\n"; }

std::string error_of(const std::string& entries) {
  const auto candidate = parse_candidate("k.cu", with_header(entries));
  return candidate ? "" : candidate.error().message;
}

constexpr auto kFull = R"(target:  cuda
tune:    BLOCK = {128, 256, 512}
tune:    VEC = {1, 2}
require: cols % VEC == 0
scratch: partial = f32[rows, 32]
scratch: flags = i32[rows]
launch:  first<<<ceil_div(rows, BLOCK), BLOCK>>>(x, w, partial)
launch:  second<<<(rows, ceil_div(cols, 32)), (32, 4, 1), 4*BLOCK>>>(partial, flags,
                                                           y)
)";

TEST(ParseCandidate, ReadsEveryKeyOfTheHeader) {
  const auto candidate = parse_candidate("k.cu", with_header(kFull));
  ASSERT_TRUE(candidate) << candidate.error().message;
  EXPECT_EQ(candidate->name, "k.cu");
  EXPECT_EQ(candidate->target, "cuda");
  EXPECT_EQ(candidate->id, sha256_hex(candidate->source));
  ASSERT_EQ(candidate->tunables.size(), 2u);
  EXPECT_EQ(candidate->tunables[0].name, "BLOCK");
  EXPECT_EQ(candidate->tunables[0].values, (std::vector<std::int64_t>{128, 256, 512}));
  ASSERT_EQ(candidate->requirements.size(), 1u);
  EXPECT_EQ(candidate->requirement_texts[0], "cols % VEC == 0");
  EXPECT_EQ(candidate->requirements[0].evaluate({{"cols", 6}, {"VEC", 4}}).value(), 0);
  ASSERT_EQ(candidate->plan.scratch.size(), 2u);
  EXPECT_EQ(candidate->plan.scratch[1].dtype, DType::i32);
  ASSERT_EQ(candidate->plan.launches.size(), 2u);
}

TEST(ParseCandidate, EvaluatesGridBlockAndSharedMemory) {
  const auto candidate = parse_candidate("k.cu", with_header(kFull));
  ASSERT_TRUE(candidate) << candidate.error().message;
  const Bindings constants{{"rows", 1000}, {"cols", 100}, {"BLOCK", 256}};
  const auto& first = candidate->plan.launches[0];
  EXPECT_EQ(first.kernel, "first");
  EXPECT_EQ(evaluate(first.grid, constants).value(), std::vector<std::int64_t>{4});
  EXPECT_EQ(evaluate(first.block, constants).value(), std::vector<std::int64_t>{256});
  EXPECT_EQ(first.shared_bytes.evaluate(constants).value(), 0);
  const auto& second = candidate->plan.launches[1];
  EXPECT_EQ(evaluate(second.grid, constants).value(), (std::vector<std::int64_t>{1000, 4}));
  EXPECT_EQ(evaluate(second.block, constants).value(), (std::vector<std::int64_t>{32, 4, 1}));
  EXPECT_EQ(second.shared_bytes.evaluate(constants).value(), 1024);
  EXPECT_EQ(second.args, (std::vector<std::string>{"partial", "flags", "y"}));
}

TEST(ParseCandidate, NeedsNoHeader) {
  const auto candidate = parse_candidate("k.cpp", "extern \"C\" void kerf_kernel(); /* kerfuffle */");
  ASSERT_TRUE(candidate) << candidate.error().message;
  EXPECT_EQ(candidate->target, "");
  EXPECT_TRUE(candidate->plan.launches.empty());
}

TEST(ParseCandidate, ReadsDecoratedCommentsOneLinersAndHeaderComments) {
  const auto decorated = parse_candidate("k", "/* kerf\n * target: cpu\n * # tuned by hand\n * tune: N = { 4 }\n */");
  ASSERT_TRUE(decorated) << decorated.error().message;
  EXPECT_EQ(decorated->tunables.at(0).values, std::vector<std::int64_t>{4});
  const auto line = parse_candidate("k", "/* kerf target: cpu */");
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->target, "cpu");
}

TEST(ParseCandidate, NamesTheLineAndTheNearestKey) {
  EXPECT_EQ(
      error_of("target: cuda\nlunch: k<<<1, 1>>>(y)\n"),
      "k.cu:4: unknown key 'lunch' in the 'kerf' header (did you mean 'launch'?); keys are target, tune, require, "
      "scratch, launch");
  EXPECT_EQ(error_of("target: cuda\nhello\n").substr(0, 31), "k.cu:4: expected 'key: value' i");
}

TEST(ParseCandidate, ReportsAnUnclosedLaunchWhereItStarts) {
  EXPECT_EQ(error_of("launch: k<<<1, 1>>>(x,\ntarget: cuda\n"),
            "k.cu:3: 'launch' opens a bracket that is never closed");
  EXPECT_EQ(error_of("launch: k<<<1, 1>>>(x,\n"), "k.cu:3: 'launch' opens a bracket that is never closed");
}

TEST(ParseCandidate, RefusesMalformedEntries) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"target:\n", "'target' has no value"},
      {"target: cuda\ntarget: cpu\n", "given twice"},
      {"target: a b\n", "not a target name"},
      {"tune: N = 4\n", "expected 'tune: NAME = {1, 2, 4}'"},
      {"tune: N = {}\n", "is not an integer"},
      {"tune: N = {1, x}\n", "'x' is not an integer"},
      {"tune: N = {99999999999999999999}\n", "is not an integer"},
      {"tune: N = {1, 1}\n", "lists 1 twice"},
      {"tune: N = {1}\ntune: N = {2}\n", "tunable 'N' is given twice"},
      {"tune: int = {1}\n", "reserved word"},
      {"scratch: f32[4]\n", "expected 'scratch: none'"},
      {"scratch: s = f99[4]\n", "f99"},
      {"scratch: s = f32[4]\nscratch: s = f32[4]\n", "given twice"},
      {"launch: k(x)\n", "expected 'launch:"},
      {"launch: k<<<1>>>(x)\n", "has 1 parts"},
      {"launch: k<<<1, 2, 3, 4>>>(x)\n", "has 4 parts"},
      {"launch: k<<<(1, 2, 3, 4), 2>>>(x)\n", "at most 3"},
      {"launch: k<<<(1, ), 2>>>(x)\n", "empty extent"},
      {"launch: k<<<1, 2>>>\n", "in parentheses"},
      {"launch: k<<<1, 2>>>()\n", "without buffers"},
      {"launch: k<<<1, 2>>>(x, 4)\n", "'4' is not the name of a buffer"},
      {"launch: k<<<1, 2>>>(x,)\n", "'' is not the name of a buffer"},
      {"launch: <<<1, 2>>>(x)\n", "not a kernel's name"},
      {"launch: k>>>1, 2<<<(x)\n", "expected 'launch:"},
  };
  for (const auto& [entries, expected] : cases)
    EXPECT_NE(error_of(entries).find(expected), std::string::npos) << entries << " -> " << error_of(entries);
}

TEST(ParseCandidate, BoundsWhatAHeaderCanAskFor) {
  std::string tunables, values, launches;
  for (int i = 0; i < 2049; ++i) tunables += "tune: T" + std::to_string(i) + " = {1}\n";
  for (int i = 0; i < 65; ++i) values += (i ? ", " : "") + std::to_string(i);
  for (int i = 0; i < 8193; ++i) launches += "launch: k<<<1, 1>>>(y)\n";
  EXPECT_NE(error_of(tunables).find("more than 2048 tunables"), std::string::npos);
  EXPECT_NE(error_of("tune: N = {" + values + "}\n").find("more than 64 values"), std::string::npos);
  EXPECT_NE(error_of(launches).find("more than 8192 launches"), std::string::npos);
  EXPECT_NE(error_of(std::string((1 << 20) + 1, '#')).find("larger than"), std::string::npos);
}

TEST(ParseCandidate, RefusesAnUnclosedHeader) {
  const auto candidate = parse_candidate("k.cu", "\n/* kerf\ntarget: cuda\n");
  ASSERT_FALSE(candidate);
  EXPECT_EQ(candidate.error().message, "k.cu:2: the 'kerf' header comment is not closed by '*/'");
}

TEST(ParseCandidate, ReadsAProductOfBracketsAsOneExtent) {
  const auto candidate =
      parse_candidate("k.cu", "/* kerf\ntarget: cuda\nlaunch: f<<<(a + 1) * ceil_div((b), 4), (64)>>>(x)\n*/\n");
  ASSERT_TRUE(candidate) << candidate.error().message;
  ASSERT_EQ(candidate->plan.launches[0].grid.size(), 1u);
  EXPECT_EQ(candidate->plan.launches[0].grid[0].evaluate({{"a", 2}, {"b", 5}}).value(), 6);
}

}  // namespace
}  // namespace kerf
