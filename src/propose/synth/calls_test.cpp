#include "propose/synth/calls.hpp"

#include <gtest/gtest.h>

namespace kerf::synth {
namespace {

std::string resolved(const std::string& code) {
  return CallResolver(code, {{"x__", "const float* x__"}, {"y__", "float* y__"}}).resolved();
}

TEST(Calls, FunctionsTakeTheBuffersTheyAndTheirCalleesUse) {
  EXPECT_EQ(resolved("float get(kerf_parameters__, int i) { return x__[i]; }\n"
                     "int none(kerf_parameters__, int i) { return i; }\n"
                     "void run(kerf_parameters__) { y__[0] = get(kerf_arguments__, none(kerf_arguments__, 1)); }\n"),
            "float get(const float* x__, int i) { return x__[i]; }\n"
            "int none(int i) { return i; }\n"
            "void run(const float* x__, float* y__) { y__[0] = get(x__, none(1)); }\n");
}

TEST(Calls, MacrosAndTemplateArgumentsAreSeenThrough) {
  EXPECT_EQ(resolved("#define GET(i) \\\n  x__[i]\n"
                     "template <bool A>\nvoid tile(kerf_parameters__) { GET(1); }\n"
                     "void run(kerf_parameters__) { tile<true>(kerf_arguments__); }\n"),
            "#define GET(i) \\\n  x__[i]\n"
            "template <bool A>\nvoid tile(const float* x__) { GET(1); }\n"
            "void run(const float* x__) { tile<true>(x__); }\n");
}

TEST(Calls, KnowWhatAKernelNeeds) {
  const CallResolver calls("void a(kerf_parameters__) { y__[0] = 1; } // x__", {{"x__", ""}, {"y__", ""}});
  EXPECT_EQ(calls.needs("a"), std::vector<std::size_t>{1});
  EXPECT_EQ(calls.needs("unknown"), (std::vector<std::size_t>{0, 1}));
}

TEST(Identifiers, AreNotMembersCommentsStringsOrNumbers) {
  EXPECT_EQ(identifiers("a.b->c + d /* e */ // f\n \"g\" 0x1p4f h_1"), (std::set<std::string>{"a", "d", "h_1"}));
  EXPECT_EQ(with_identifier("x x1 x; // x", "x", "z"), "z x1 z; // x");
}

TEST(Identifiers, OfAFunctionIncludeThoseOfItsMacros) {
  const auto functions = identifiers_by_function(
      "#define A(i) B + i\n#define B x\nint f(int a) { return A(a); }\nint g() { return 1; }\n");
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_TRUE(functions[0].contains("x"));
  EXPECT_FALSE(functions[1].contains("x"));
}

TEST(Wrapped, BreaksLongLinesAfterCommas) {
  const std::string parameter(50, 'p');
  EXPECT_EQ(wrapped("void f(" + parameter + ", " + parameter + ", " + parameter + ") {\n}\n"),
            "void f(" + parameter + ", " + parameter + ",\n       " + parameter + ") {\n}\n");
  EXPECT_EQ(
      wrapped("f(" + parameter + ", " + parameter + ", " + parameter + ", " + parameter + ", " + parameter + ");"),
      "f(" + parameter + ", " + parameter + ",\n  " + parameter + ", " + parameter + ",\n  " + parameter + ");");
}

}  // namespace
}  // namespace kerf::synth
