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
