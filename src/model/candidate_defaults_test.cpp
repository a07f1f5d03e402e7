#include <gtest/gtest.h>

#include "model/candidate.hpp"

namespace kerf {
namespace {

std::string rewritten(const std::string& source, const Bindings& values) {
  const auto result = with_defaults(source, values);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  if (!result) return {};
  const auto candidate = parse_candidate("k", *result);
  EXPECT_TRUE(candidate) << *result;
  for (const auto& tunable : candidate->tunables) {
    const auto chosen = values.find(tunable.name);
    EXPECT_TRUE(chosen == values.end() || tunable.values.front() == chosen->second) << *result;
  }
  return *result;
}

TEST(WithDefaults, TheChosenValuesComeFirstAndTheRestKeepsItsOrder) {
  EXPECT_EQ(rewritten("/* kerf\ntune: B = {64, 128, 256}\ntune: V = {1, 2}\n*/\nint x = 64;\n", {{"B", 256}}),
            "/* kerf\ntune: B = {256, 64, 128}\ntune: V = {1, 2}\n*/\nint x = 64;\n");
  EXPECT_EQ(rewritten("/* kerf\ntune: B = {64, 128}\ntune: V = {1, 2}\n*/", {{"B", 128}, {"V", 2}}),
            "/* kerf\ntune: B = {128, 64}\ntune: V = {2, 1}\n*/");
}

TEST(WithDefaults, AValueThatIsFirstAlreadyChangesNothing) {
  const std::string source = "// {7}\n/* kerf\n tune:B={ 64 ,128 }\n*/\n";
  EXPECT_EQ(rewritten(source, {{"B", 64}}), source);
  EXPECT_EQ(rewritten(source, {}), source);
}

TEST(WithDefaults, KeepsOddLayouts) {
  EXPECT_EQ(rewritten("/*kerf tune: B = {1,2,3} */ code {1,2,3}", {{"B", 3}}),
            "/*kerf tune: B = {3,1,2} */ code {1,2,3}");
  EXPECT_EQ(
      rewritten(
          "/* kerf\n * target: cpu\n * tune: B = {8,\n *           16,\n *   # 99 was slow\n *           -4}\n */\n",
          {{"B", -4}}),
      "/* kerf\n * target: cpu\n * tune: B = {-4,\n *           8,\n *   # 99 was slow\n *           16}\n */\n");
  EXPECT_EQ(rewritten("// tune: B = {5, 6}\n/* kerf\n# tune: B = {7, 8}\ntune:\tB = {1, 2}\r\n*/", {{"B", 2}}),
            "// tune: B = {5, 6}\n/* kerf\n# tune: B = {7, 8}\ntune:\tB = {2, 1}\r\n*/");
}

TEST(WithoutDefaults, IsTheSameTextWhateverTheDefaultsAre) {
  const std::string source = "/* kerf\ntune: A = {64, 8, 128}\ntune: B = {2, -1}\n*/\nint x;\n";
  EXPECT_EQ(without_defaults(source), "/* kerf\ntune: A = {8, 64, 128}\ntune: B = {-1, 2}\n*/\nint x;\n");
  for (const std::int64_t a : {64, 8, 128})
    for (const std::int64_t b : {2, -1})
      EXPECT_EQ(without_defaults(rewritten(source, {{"A", a}, {"B", b}})), without_defaults(source));
  EXPECT_NE(without_defaults(source + "//"), without_defaults(source));
  EXPECT_EQ(without_defaults("/* kerf\nnot a header"), "/* kerf\nnot a header");
}

TEST(WithDefaults, NamesWhatIsUnknown) {
  const std::string source = "/* kerf\ntune: BLOCK = {64, 128}\n*/";
  EXPECT_NE(with_defaults(source, {{"BLOK", 64}}).error().message.find("did you mean 'BLOCK'"), std::string::npos);
  EXPECT_NE(with_defaults(source, {{"BLOCK", 65}}).error().message.find("64, 128"), std::string::npos);
  EXPECT_FALSE(with_defaults("/* kerf\ntune: BLOCK = {64\n*/", {{"BLOCK", 64}}));
}

}  // namespace
}  // namespace kerf
