#include "propose/synth/fold.hpp"

#include <gtest/gtest.h>

namespace kerf::synth {
namespace {

std::string code(std::string_view text) { return folded(text, Literals::code); }
std::string header(std::string_view text) { return folded(text, Literals::header); }

TEST(Fold, FactorsOfOneGo) {
  EXPECT_EQ(code("f(a * 1 + b / 1, 1 * c);"), "f(a + b, c);");
  EXPECT_EQ(code("x = 1 * 1 * y;"), "x = y;");
  EXPECT_EQ(code("x = (1 + 0 * 1) * y;"), "x = y;");
  EXPECT_EQ(code("x = a / 1 % b;"), "x = a % b;");
  EXPECT_EQ(header("cols * 1 * 8 <= 40960 || ceil_div(((f)), G0_Y) * 1 <= 64"),
            "cols * 8 <= 40960 || ceil_div(f, G0_Y) <= 64");
}

TEST(Fold, WhatBindsOtherwiseStays) {
  for (const char* text : {"x = a / 1.5f;", "x = a % 1 * b;", "x = a / (1 * b);", "const float* x;", "x = n - 1 + b;"})
    EXPECT_EQ(code(text), std::string(text) == "x = a / (1 * b);" ? "x = a / (b);" : text);
}

TEST(Fold, ZerosGoFromIntegersOnly) {
  EXPECT_EQ(code("y[(i * n + 0 + j)] = x + 0;"), "y[(i * n + j)] = x + 0;");
  EXPECT_EQ(code("y[i - 0] = f(0 + x);"), "y[i] = f(0 + x);");
  EXPECT_EQ(code("z = (x - 0) * y - 0 * w;"), "z = (x) * y - 0 * w;");
  EXPECT_EQ(code("y[i + 0 * n] = y[f(x + 0)];"), "y[i + 0 * n] = y[f(x + 0)];");
}

TEST(Fold, TextBetweenStays) {
  EXPECT_EQ(code("// 1 * 1\nx = a *  // by\n    1;\n"), "// 1 * 1\nx = a *  // by\n    1;\n");
  EXPECT_EQ(code("#define A (1 * b)\nint  x;\n"), "#define A (b)\nint  x;\n");
}

}  // namespace
}  // namespace kerf::synth
