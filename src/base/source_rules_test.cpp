#include "base/source_rules.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

using List = std::vector<std::string>;

List influences(std::string_view source) {
  return outside_influences(source, {.trigraphs = true, .known_names = {"rows"}});
}

TEST(SourceRules, TimePlaceAndPurposeAreInfluences) {
  EXPECT_EQ(influences("int t = __TIME__[0];"), List{"__TIME__"});
  EXPECT_EQ(influences("#if __has_include(\"constants.hpp\")\n#endif"), List{"__has_include"});
  EXPECT_EQ(influences("const char* f = __FI\\\nLE__;"), List{"__FILE__"});
  EXPECT_EQ(influences("int c = __COUNTER__ + __LINE__;"), (List{"__COUNTER__", "__LINE__"}));
  EXPECT_EQ(influences("#include_next <cmath>"), List{"#include_next"});
  EXPECT_EQ(influences("?\?=import <x>"), List{"#import"});
  EXPECT_EQ(influences("%:embed \"x\""), List{"#embed"});
  EXPECT_EQ(influences("#define H <cmath>\n#include H"), List{"#include of a macro"});
  EXPECT_EQ(influences("#pragma GCC push_macro(\"X\")"), List{"#pragma push_macro"});
  EXPECT_EQ(influences("_Pragma(\"GCC poison f\")"), List{"#pragma poison"});
}

TEST(SourceRules, NamesThatArePastedTogetherCount) {
  EXPECT_EQ(influences("#define J(a, b) a##b\nint t = J(__TI, ME__)[0];"), List{"__TIME__"});
  EXPECT_EQ(influences("#define J(a, b, c) a##b?\?=?\?=c\nint t = J(__, COUNTER, __);"), List{"__COUNTER__"});
  EXPECT_EQ(influences("#define J(a, b) a%:%:b\nint t = J(__FI, LE__)[0];"), List{"__FILE__"});
  EXPECT_EQ(influences("int __TI, ME__;"), List{});  // nothing is pasted
}

TEST(SourceRules, ConditionsMayAskForAbilitiesAndOwnMacrosOnly) {
  EXPECT_EQ(influences("#if defined(__AVX512F__) && __GNUC__ >= 12\n#elif defined(__ARM_NEON)\n#endif"), List{});
  EXPECT_EQ(influences("#ifndef TILE\n#define TILE 8\n#endif\n#if TILE > 4 && rows > 2\n#endif"), List{});
  EXPECT_EQ(influences("#define NEWER(a, b) (__GNUC__ > a || b)\n#if NEWER(10, 1)\n#endif"), List{});
  EXPECT_EQ(influences("#if __has_builtin(__builtin_fma) || __has_attribute(aligned)\n#endif"), List{});
  EXPECT_EQ(influences("#ifdef KERF_EXPORT\n#endif"), List{"#if on KERF_EXPORT"});
  EXPECT_EQ(influences("#define A KERF_EXPORT\n#if A\n#endif"), List{"#if on KERF_EXPORT"});
  EXPECT_EQ(influences("#define A defined(_GLIBCXX_MAP)\n#define B A\n#if B\n#endif"), List{"#if on _GLIBCXX_MAP"});
  EXPECT_EQ(influences("#define A KERF_EXPORT\n#if A\n#endif\n#undef A\n#define A 1"), List{"#if on KERF_EXPORT"});
}

TEST(SourceRules, DefiningANameOfOthersDoesNotMakeItOwn) {
  EXPECT_EQ(influences("#ifdef _GLIBCXX_MAP\n#endif\n#define _GLIBCXX_MAP 1"), List{"#if on _GLIBCXX_MAP"});
  EXPECT_EQ(influences("#ifndef my__guard\n#define my__guard\n#endif"), List{"#if on my__guard"});
  EXPECT_EQ(influences("#ifndef EOF\n#define EOF -1\n#endif"), List{"#if on EOF"});
  EXPECT_EQ(influences("#if defined(__AVX512FINTRIN_H) || defined(__CUDA_RUNTIME_H__)\n#endif"),
            (List{"#if on __AVX512FINTRIN_H", "#if on __CUDA_RUNTIME_H__"}));
  EXPECT_EQ(influences("#define __AVX2__ 1\n#ifdef __AVX2__\n#endif"), List{});       // an ability
  EXPECT_EQ(influences("#ifndef MY_KERNEL_H\n#define MY_KERNEL_H\n#endif"), List{});  // its own guard
  EXPECT_EQ(influences("#define rows_ 4\n#if rows_ > 2 && rows\n#endif"), List{});
}

TEST(SourceRules, PlainKernelsHaveNone) {
  EXPECT_EQ(influences("#include <cmath>\n#pragma omp parallel for\n// __TIME__\nconst char* s = \"__FILE__\";"),
            List{});
  EXPECT_EQ(influences("#define LOOP _Pragma(\"omp simd\") for\n#define CAT(a, b) a##b\nfloat CAT(x, 1);"), List{});
}

}  // namespace
}  // namespace kerf
