#include "base/c_lexer.hpp"

#include <gtest/gtest.h>

#include "base/rng.hpp"

namespace kerf {
namespace {

using Texts = std::vector<std::string>;

Texts texts(std::string_view source, const CLexOptions& options = {}) {
  Texts found;
  for (const CToken& token : lex_c(source, options)) found.push_back(token.text);
  return found;
}

TEST(LexC, LeavesOutCommentsAndKeepsLiteralsWhole) {
  EXPECT_EQ(texts("a/* b */c // d\ne"), (Texts{"a", "c", "e"}));
  EXPECT_EQ(texts(R"(f("x // y /* z", '"', '\''))"),
            (Texts{"f", "(", R"("x // y /* z")", ",", "'\"'", ",", "'\\''", ")"}));
  EXPECT_EQ(texts("/*/ still a comment */ a"), (Texts{"a"}));
  EXPECT_EQ(texts("a /* never closed"), (Texts{"a"}));
  EXPECT_EQ(texts("\"never closed\nb"), (Texts{"\"never closed", "b"}));
}

TEST(LexC, ReadsRawStringsAsTheyStand) {
  EXPECT_EQ(texts("R\"(a)b\" \\\n \")\" c"), (Texts{"R\"(a)b\" \\\n \")\"", "c"}));
  EXPECT_EQ(texts("u8R\"x(a)\" // )x\" b"), (Texts{"u8R\"x(a)\" // )x\"", "b"}));
  EXPECT_EQ(texts("FOUR\"(a)\""), (Texts{"FOUR", "\"(a)\""}));  // a name that ends in R is no prefix
}

TEST(LexC, ReadsPrefixedLiteralsAndDigitSeparators) {
  EXPECT_EQ(texts("L'a' u8\"b\" x'c'"), (Texts{"L'a'", "u8\"b\"", "x", "'c'"}));
  EXPECT_EQ(texts("1'000'000 0x1.8p-3f .5e+2 0x1e+2 1.f"),
            (Texts{"1'000'000", "0x1.8p-3f", ".5e+2", "0x1e", "+", "2", "1.f"}));
}

TEST(LexC, JoinsLinesThatEndInABackslash) {
  const auto tokens = lex_c("pri\\\nntf // c \\\n still\n#def\\\r\nine X");
  ASSERT_EQ(tokens.size(), 4U);
  EXPECT_EQ(tokens[0].text, "printf");
  EXPECT_EQ(tokens[1].text, "#");
  EXPECT_TRUE(starts_directive(tokens[1]));
  EXPECT_EQ(tokens[1].line, 4);
  EXPECT_EQ(tokens[2].text, "define");
  EXPECT_EQ(tokens[3].line, 5);
}

TEST(LexC, GivesDigraphsByTheirMeaning) {
  EXPECT_EQ(texts("%:include <:1:> <%%>"), (Texts{"#", "include", "[", "1", "]", "{", "}"}));
  EXPECT_EQ(texts("a<::b>"), (Texts{"a", "<", ":", ":", "b", ">"}));
}

TEST(LexC, ReadsTrigraphsWhereTheLanguageHasThem) {
  const std::string source = "?\?=inc?\?/\nlude";
  EXPECT_EQ(texts(source, {.trigraphs = true}), (Texts{"#", "include"}));
  EXPECT_EQ(texts(source).front(), "?");
}

TEST(LexC, SaysWhereTokensStand) {
  const std::string source = "ab  cd\n /* x\n */ ef";
  const auto tokens = lex_c(source);
  ASSERT_EQ(tokens.size(), 3U);
  EXPECT_EQ(source.substr(tokens[1].begin, tokens[1].end - tokens[1].begin), "cd");
  EXPECT_TRUE(tokens[0].first && !tokens[1].first && tokens[2].first);
  EXPECT_FALSE(tokens[0].after_blank);
  EXPECT_TRUE(tokens[1].after_blank);
  EXPECT_EQ(tokens[2].line, 3);
}

TEST(LexC, CallsOnlyTheFirstSignOfALineADirective) {
  const auto lines = logical_lines(lex_c("#define A \\\n 1\nx = #\n/* c */ # if"));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(starts_directive(lines[0][0]));
  EXPECT_EQ(lines[0].size(), 4U);
  EXPECT_FALSE(starts_directive(lines[1][0]));
  EXPECT_TRUE(starts_directive(lines[2][0]));
}

TEST(PlainSource, DropsCommentsAndExtraBlanks) {
  EXPECT_EQ(plain_source("int  a; // one\n\n\n\tint b; /* two */ int c;"), "int a;\nint b; int c;\n");
  EXPECT_EQ(plain_source("s = \"a  //  b\";"), "s = \"a  //  b\";\n");
  EXPECT_EQ(plain_source("/* only a comment */"), "");
}

TEST(LexC, EndsOnAnyText) {
  const std::string_view alphabet = "ab0.'\"\\\n\r/*R()L?=#%:<>e+ \t$\x80";
  Rng rng(11);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (auto left = rng.integer(0, 40); left > 0; --left)
      text += alphabet[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(alphabet.size()) - 1))];
    std::size_t end = 0;
    for (const CToken& token : lex_c(text, {.trigraphs = rng.chance(0.5)})) {
      EXPECT_LE(end, token.begin);
      EXPECT_LT(token.begin, token.end);
      EXPECT_LE(token.end, text.size());
      EXPECT_FALSE(token.text.empty());
      end = token.end;
    }
  }
}

}  // namespace
}  // namespace kerf
