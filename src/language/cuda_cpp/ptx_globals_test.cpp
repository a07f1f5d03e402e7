#include "language/cuda_cpp/ptx_globals.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

std::set<std::string> proven(const std::string& body) {
  return read_only_globals(
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".global .align 4 .b8 table[16] = {0, 0, 128, 63, 0, 0, 0, 64};\n"
      ".visible .entry k(.param .u64 k_param_0)\n{\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [k_param_0];\n" +
      body + "ret;\n}\n");
}

TEST(ReadOnlyGlobals, ATableThatIsOnlyLoadedIsProven) {
  EXPECT_TRUE(proven("mov.u64 %rd2, table;\nadd.s64 %rd3, %rd2, %rd4;\nld.global.nc.f32 %f1, [%rd3];\n"
                     "st.global.f32 [%rd1], %f1;\n")
                  .contains("table"));
}

TEST(ReadOnlyGlobals, TheIndexThatIsSharedWithAStoreIsNoUseOfTheTable) {
  EXPECT_TRUE(proven("mov.u64 %rd2, table;\nadd.s64 %rd3, %rd2, %rd4;\nld.global.f32 %f1, [%rd3];\n"
                     "add.s64 %rd5, %rd1, %rd4;\nst.global.v4.f32 [%rd5], {%f1, %f1, %f1, %f1};\n")
                  .contains("table"));
}

TEST(ReadOnlyGlobals, AStoreThroughADerivedAddressRefutes) {
  EXPECT_FALSE(
      proven("mov.u64 %rd2, table;\nadd.s64 %rd3, %rd2, %rd4;\nst.global.f32 [%rd3], %f1;\n").contains("table"));
}

TEST(ReadOnlyGlobals, AStoreBeforeTheAddressIsComputedInTextOrderRefutesToo) {
  EXPECT_FALSE(proven("$L1:\nst.global.f32 [%rd3], %f1;\n@%p1 bra $L2;\nmov.u64 %rd3, table;\nbra $L1;\n$L2:\n")
                   .contains("table"));
}

TEST(ReadOnlyGlobals, AVariableDeclaredInsideAFunctionIsNeverProven) {
  EXPECT_FALSE(proven("{ .global .align 4 .u32 hidden; .reg .u64 p; mov.u64 p, hidden; ld.global.u32 %r1, [p]; }\n")
                   .contains("hidden"));
}

TEST(ReadOnlyGlobals, AVariableWithTheNameOfAHiddenOneThatIsWrittenIsNotProven) {
  EXPECT_FALSE(
      proven("{ .global .align 4 .u32 table; .reg .u64 p; mov.u64 p, table; atom.global.add.u32 %r1, [p], 1; }\n")
          .contains("table"));
}

TEST(ReadOnlyGlobals, AConstantWhoseAddressIsStoredThroughRefutes) {
  const std::string head = ".const .align 4 .b8 c[16] = {1};\n.visible .entry k()\n{\n";
  EXPECT_TRUE(read_only_globals(head + "ld.const.u32 %r1, [c+4];\nret;\n}\n").contains("c"));
  EXPECT_FALSE(read_only_globals(
                   head + "{ .reg .u64 p; mov.u64 p, c; cvta.const.u64 %rd1, p; }\nst.volatile.u32 [%rd1], %r1;\n}\n")
                   .contains("c"));
}

TEST(ReadOnlyGlobals, AnAtomicRefutes) {
  EXPECT_FALSE(proven("atom.global.add.u32 %r1, [table], 1;\n").contains("table"));
}

TEST(ReadOnlyGlobals, AnAddressThatIsStoredRefutes) {
  EXPECT_FALSE(
      proven("mov.u64 %rd2, table;\ncvta.global.u64 %rd3, %rd2;\nst.global.u64 [%rd1], %rd3;\n").contains("table"));
}

TEST(ReadOnlyGlobals, AnAddressPackedIntoHalvesIsFollowed) {
  EXPECT_FALSE(
      proven("mov.u64 %rd2, table;\nmov.b64 {%r1, %r2}, %rd2;\nmov.b64 %rd3, {%r1, %r2};\nst.u32 [%rd3], %r4;\n")
          .contains("table"));
}

TEST(ReadOnlyGlobals, AnAddressPassedToACallRefutes) {
  EXPECT_FALSE(
      proven("mov.u64 %rd2, table;\n{\n.param .b64 param0;\nst.param.b64 [param0+0], %rd2;\ncall.uni f, (param0);\n}\n")
          .contains("table"));
}

TEST(ReadOnlyGlobals, AnAddressInAnotherVariableRefutes) {
  const auto names = read_only_globals(
      ".global .align 4 .u32 cell;\n.global .align 8 .u64 pointer = generic(cell);\n.visible .entry k()\n{\nret;\n}\n");
  EXPECT_FALSE(names.contains("cell"));
  EXPECT_TRUE(names.contains("pointer"));
}

}  // namespace
}  // namespace kerf
