#include "model/names.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

std::string refusal(std::string_view name) {
  const auto status = check_name("input", name);
  return status ? "" : status.error().message;
}

TEST(CheckName, AcceptsOrdinaryNames) {
  for (const auto* name : {"x", "w", "rows", "BLOCK", "kv_heads", "float5", "_y"}) EXPECT_EQ(refusal(name), "") << name;
}

TEST(CheckName, RefusesWordsOfEveryTargetLanguage) {
  for (const auto* name : {"int", "template", "threadIdx", "kernel", "global", "half", "float4", "uchar16", "warpSize"})
    EXPECT_NE(refusal(name).find("reserved word"), std::string::npos) << name;
}

TEST(CheckName, RefusesFunctionsThatEveryKernelCalls) {
  for (const auto* name :
       {"get_global_id", "get_local_size", "barrier", "vload4", "vstore_half", "as_float", "convert_int"})
    EXPECT_NE(refusal(name).find("function of OpenCL C"), std::string::npos) << name;
  for (const auto* name : {"length", "step", "distance", "as_is", "convert", "get_rows"}) EXPECT_EQ(refusal(name), "");
}

TEST(CheckName, RefusesMacrosOfStandardHeaders) {
  for (const auto* name : {"M_PI", "NAN", "INFINITY", "INT_MAX", "UINT64_MAX", "INTMAX_C", "CHAR_BIT", "FLT_EPSILON",
                           "SIZE_MAX", "EOF", "FP_ZERO"})
    EXPECT_NE(refusal(name).find("macro"), std::string::npos) << name;
  for (const auto* name : {"INTER_MAX", "M_TILE", "FP_DIM", "SIZE", "MAX", "INT8", "LONG_CONTEXT"})
    EXPECT_EQ(refusal(name), "") << name;
  EXPECT_NE(refusal("image2d_t").find("reserved word"), std::string::npos);
}

TEST(CheckName, AShapeSymbolIsNoNameOfTheCLibrary) {
  for (const auto* name :
       {"index", "y0", "gamma", "exit", "sinhf", "log1pl", "uint8_t", "size_t", "omp_get_thread_num"}) {
    EXPECT_FALSE(check_symbol("shape symbol", name)) << name;
  }
  EXPECT_TRUE(check_name("input", "index")) << "a parameter may have it";
  for (const auto* name : {"rows", "n_t", "indices", "y", "intervals", "times"})
    EXPECT_TRUE(check_symbol("shape symbol", name)) << name;
}

TEST(CheckName, RefusesPrefixesThatCompilersOrKerfOwn) {
  for (const auto* name : {"__x", "_X", "kerf_x"}) EXPECT_NE(refusal(name).find("prefix"), std::string::npos) << name;
}

TEST(CheckName, RefusesWhatIsNoIdentifierOrTooLong) {
  EXPECT_EQ(refusal("2x"), "input '2x' is not a name: use letters, digits and '_', not starting with a digit");
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal(std::string(65, 'a')).find("longer than 64"), std::string::npos);
}

}  // namespace
}  // namespace kerf
