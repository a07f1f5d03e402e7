#include "base/program_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace kerf {
namespace {

std::vector<std::string> names(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back("k" + std::to_string(i));
  return all;
}

/// Kernels of rising length, each with a helper that stays, written in three ways.
std::string program(int count) {
  std::string text = "#define KERNEL extern \"C\" __global__ void\n#define KERNEL_OF(n) __launch_bounds__(n) KERNEL\n";
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    text += "__device__ float f" + number + "(float x) { return x + " + number + "; }\n";
    const std::string heads[] = {"KERNEL", "KERNEL_OF(64 * (1 + 1))",
                                 "extern \"C\" __global__ void __launch_bounds__(32)"};
    text += heads[i % 3] + " k" + number + "(float* x) {  // }\n  if (x) { x[0] = f" + number + "(x[0]); }\n" +
            std::string(static_cast<std::size_t>(i), ';') + "}\n";
  }
  return text;
}

TEST(ProgramParts, DefineEveryKernelInExactlyOnePart) {
  const std::string source = program(30);
  const auto parts = program_parts(source, names(30));
  ASSERT_EQ(parts.size(), 5u);
  for (int i = 0; i < 30; ++i) {
    int definitions = 0;
    for (const auto& part : parts) {
      const std::string text = without(source, part);
      EXPECT_EQ(text.size(), source.size());
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(source.begin(), source.end(), '\n'));
      EXPECT_NE(text.find(" f" + std::to_string(i) + "(float"), std::string::npos) << "helpers stay";
      definitions += text.find(" k" + std::to_string(i) + "(float") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(definitions, 1) << i;
  }
}

TEST(ProgramParts, LeaveNothingOfAKernelBehind) {
  const std::string source = program(12);
  const auto parts = program_parts(source, names(12));
  ASSERT_EQ(parts.size(), 2u);
  const std::string both = without(without(source, parts[0]), parts[1]);
  EXPECT_EQ(both.find("KERNEL k"), std::string::npos);
  EXPECT_EQ(both.find("__launch_bounds__(32)"), std::string::npos);
  EXPECT_EQ(both.find("x[0]"), std::string::npos);
  EXPECT_NE(both.find("#define KERNEL extern"), std::string::npos);
}

TEST(ProgramParts, AreNoneWhereKernelsAreFewOrNotFoundForSure) {
  EXPECT_TRUE(program_parts(program(11), names(11)).empty());
  EXPECT_TRUE(program_parts(program(12), names(13)).empty()) << "one is not defined";
  EXPECT_TRUE(program_parts("namespace a {\n" + program(12) + "}\n", names(12)).empty()) << "not at the top level";
  EXPECT_TRUE(program_parts(program(12) + "#else\nKERNEL k3(int* y) { }\n", names(12)).empty()) << "defined twice";
  EXPECT_TRUE(program_parts(program(12) + "KERNEL k12(int* y) {", names(13)).empty()) << "not closed";
  EXPECT_TRUE(program_parts("", names(12)).empty());
}

TEST(ProgramParts, AreNoneWhereAKernelMayMeanSomethingToOthers) {
  const auto with = [](const std::string& before, const std::string& inside) {
    return program_parts(before + program(12) + "KERNEL k12(float* x) {\n" + inside + "\n}\n", names(13)).size();
  };
  EXPECT_EQ(with("", "x[0] = 1;"), 2u);
  EXPECT_EQ(with("#pragma unroll 1\n#define MANY _Pragma(\"unroll\")\n", "MANY\n#pragma unroll\n#if 1\n;\n#endif"), 2u);
  for (const char* inside : {"#define CHEAT 1", "#undef KERNEL", "#line 1", "#include \"more\"", "x[0] = __COUNTER__;",
                             "#pragma push_macro(\"a\")", "_Pragma(\"push_macro(\\\"a\\\")\")", "int a ## b;",
                             "struct S { friend int f(S); };"})
    EXPECT_EQ(with("", inside), 0u) << inside;
  EXPECT_EQ(with("#define DO(text) _Pragma(#text)\n", ""), 0u);
  const std::string between = "KERNEL k12(float* x,\n#define CHEAT 1\n  float* y) { }\n";
  EXPECT_EQ(program_parts(program(12) + between, names(13)).size(), 0u);
}

}  // namespace
}  // namespace kerf
