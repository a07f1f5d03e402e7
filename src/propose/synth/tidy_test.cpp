#include "propose/synth/tidy.hpp"

#include <gtest/gtest.h>

namespace kerf::synth {
namespace {

std::string tidy(const std::string& code) { return without_unused(code, {"run"}); }

TEST(Tidy, ParametersThatAreNotUsedGoWithTheirArguments) {
  EXPECT_EQ(tidy("KERF_FN float get(kerf_parameters__, int i, int j) { return x__[j]; }\n"
                 "KERF_KERNEL run(kerf_parameters__) { y__[0] = get(kerf_arguments__, (1 + 2), get(kerf_arguments__, "
                 "3, 4)); }\n"),
            "KERF_FN float get(kerf_parameters__, int j) { return x__[j]; }\n"
            "KERF_KERNEL run(kerf_parameters__) { y__[0] = get(kerf_arguments__, get(kerf_arguments__, 4)); }\n");
}

TEST(Tidy, WhatIsUnusedThenGoesToo) {
  EXPECT_EQ(tidy("KERF_FN int inner(int a, int b) { return a; }\n"
                 "KERF_FN int outer(int a, int b) { return inner(a, b); }\n"
                 "KERF_KERNEL run(int n) {\n"
                 "  const int b = n / 2, c = n;\n"
                 "  const int d = b + 1;\n"
                 "  outer(c, d);\n"
                 "}\n"),
            "KERF_FN int inner(int a) { return a; }\n"
            "KERF_FN int outer(int a) { return inner(a); }\n"
            "KERF_KERNEL run(int n) {\n"
            "  const int c = n;\n"
            "  outer(c);\n"
            "}\n");
}

TEST(Tidy, MacrosCanUseParametersAndLocals) {
  const std::string code =
      "#define AT (i * V)\n"
      "KERF_FN int get(int i, int V) { return AT; }\n"
      "KERF_KERNEL run(int n) {\n"
      "  const int i = 1, V = 2;\n"
      "  n = AT + get(n, n);\n"
      "}\n";
  EXPECT_EQ(tidy(code), code);
}

TEST(Tidy, ParametersStayWhereACallDoesSomething) {
  for (const char* argument : {"i++", "i = 1", "atomic_inc(p)"}) {
    const std::string code =
        std::string("KERF_FN int get(int a) { return 0; }\nKERF_KERNEL run(int* p) { get(") + argument + "); }\n";
    EXPECT_EQ(tidy(code), code);
  }
}

TEST(Tidy, CallsThatWriteStay) {
  const std::string writes =
      "KERF_FN int set(int* p) {\n  p[0] = 1;\n  return 1;\n}\n"
      "KERF_KERNEL run(int* p) {\n  const int done = set(p);\n}\n";
  EXPECT_EQ(tidy(writes), writes);
  EXPECT_EQ(tidy("KERF_FN int get(int i) {\n  int s = 0;\n  s += i;\n  return s;\n}\n"
                 "KERF_KERNEL run(int* p) {\n  const int unused = get(1);\n}\n"),
            "KERF_KERNEL run(int* p) {\n}\n");
}

TEST(Tidy, FunctionsThatAreNotOnlyCalledStay) {
  const std::string code =
      "KERF_FN int get(int a) { return 0; }\n"
      "KERF_KERNEL run(int* p) { apply(get); }\n";
  EXPECT_EQ(tidy(code), code);
}

TEST(Tidy, DeclarationsFollowTheirDefinition) {
  EXPECT_EQ(tidy("static void a(int i, int j);\n"
                 "static void b(int i) { a(i, 2); }\n"
                 "static void a(int i, int j) { b(i); }\n"
                 "KERF_KERNEL run() { a(1, 2); }\n"),
            "static void a(int i);\n"
            "static void b(int i) { a(i); }\n"
            "static void a(int i) { b(i); }\n"
            "KERF_KERNEL run() { a(1); }\n");
}

TEST(Tidy, FunctionsThatNobodyCallsGoWithTheirComment) {
  EXPECT_EQ(tidy("// About this part.\n\n"
                 "// Adds.\nKERF_FN int add(int a, int b) {\n  return a + b;\n}\n\n"
                 "KERF_KERNEL run() {}\n"),
            "// About this part.\n\n\n"
            "KERF_KERNEL run() {}\n");
}

TEST(Tidy, ADirectiveKeepsWhatFollows) {
  const std::string code = "KERF_KERNEL run(int n) {\n#pragma unroll\n  int i = 0;\n  __shared__ int s[4];\n}\n";
  EXPECT_NE(tidy(code).find("int i"), std::string::npos);
}

TEST(Tidy, ALocalIsUsedInItsOwnBlockOnly) {
  EXPECT_EQ(tidy("KERF_KERNEL run(int n) {\n"
                 "  {\n    int i = 0;\n  }\n"
                 "  {\n    int i = 0;\n    n = i;\n  }\n"
                 "}\n"),
            "KERF_KERNEL run(int n) {\n"
            "  {\n  }\n"
            "  {\n    int i = 0;\n    n = i;\n  }\n"
            "}\n");
}

}  // namespace
}  // namespace kerf::synth
