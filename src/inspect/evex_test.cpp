#include <gtest/gtest.h>

#include "inspect/instruction.hpp"

namespace kerf {
namespace {

Instruction decode(std::string_view bytes) {
  std::size_t size = 0;
  const auto one = decode_evex(bytes, 0x1000, size);
  EXPECT_TRUE(one.has_value());
  EXPECT_EQ(size, bytes.size());
  return one.value_or(Instruction{});
}

using Values = std::vector<std::string>;

TEST(Evex, ReadsAFusedMultiplyAddOfRegisters) {
  // vfmadd132ps zmm0, zmm1, zmm0
  const auto one = decode(std::string_view("\x62\xf2\x75\x48\x98\xc0", 6));
  EXPECT_TRUE(is_fma(one.name)) << one.name;
  EXPECT_EQ(one.bytes, 64);
  EXPECT_TRUE(one.packed);
  EXPECT_FALSE(one.memory);
  EXPECT_EQ(one.written, Values{"v0"});
  EXPECT_EQ(one.read, (Values{"v0", "v1", "v0"}));
}

TEST(Evex, ReadsHighRegistersAndMemory) {
  // vfmadd231ps zmm18, zmm25, [rax+rcx*4+0x40]
  const auto one = decode(std::string_view("\x62\xe2\x35\x40\xb8\x54\x88\x01", 8));
  EXPECT_TRUE(is_fma(one.name));
  EXPECT_EQ(one.written, Values{"v18"});
  EXPECT_EQ(one.read, (Values{"v18", "v25"}));
  EXPECT_TRUE(one.memory);
  EXPECT_FALSE(one.stack);
}

TEST(Evex, KnowsStackSlotsAndStores) {
  // vmovups [rsp+0x40], zmm3
  const auto one = decode(std::string_view("\x62\xf1\x7c\x48\x11\x5c\x24\x01", 8));
  EXPECT_EQ(one.name, "movps");
  EXPECT_TRUE(one.stack);
  EXPECT_EQ(one.written, Values{"s64"});
  EXPECT_EQ(one.read, Values{"v3"});
}

TEST(Evex, TakesImmediatesAlong) {
  // vcmpps k1, zmm0, zmm1, 1; vextractf32x8 ymm1, zmm0, 1
  const auto compare = decode(std::string_view("\x62\xf1\x7c\x48\xc2\xc9\x01", 7));
  EXPECT_TRUE(compare.written.empty());
  EXPECT_EQ(compare.name, "cmpps");
  const auto extract = decode(std::string_view("\x62\xf3\x7d\x48\x1b\xc1\x01", 7));
  EXPECT_EQ(extract.name, "extractf");
  EXPECT_EQ(extract.written, Values{"v1"});
  EXPECT_EQ(extract.read, Values{"v0"});
}

TEST(Evex, RefusesWhatIsCutOff) {
  const std::string_view whole("\x62\xf1\x7c\x48\x11\x5c\x24\x01", 8);
  for (std::size_t length = 1; length < whole.size(); ++length) {
    std::size_t size = 0;
    EXPECT_FALSE(decode_evex(whole.substr(0, length), 0, size)) << length;
  }
}

}  // namespace
}  // namespace kerf
