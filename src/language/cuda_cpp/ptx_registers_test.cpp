#include "language/cuda_cpp/ptx_registers.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

using Names = std::vector<std::string>;

TEST(IdentifyingRegisters, AreClocksAndPlacesOnTheDevice) {
  EXPECT_EQ(identifying_registers("mov.u64 \t%rd2, %clock64;\nmov.u32 %r1, %clock;\nmov.u32 %r2, %clock;"),
            (Names{"%clock64 (a clock)", "%clock (a clock)"}));
  EXPECT_EQ(identifying_registers("mov.u64 %rd1, %globaltimer;{mov.u32 %r1,%globaltimer_lo;}").size(), 2U);
  EXPECT_EQ(identifying_registers("mov.u32 %r1, %smid;"), Names{"%smid (the multiprocessor it runs on)"});
  EXPECT_EQ(identifying_registers("mov.u32 %r1, %warpid; mov.u32 %r2, %nsmid; mov.u64 %rd1, %gridid;").size(), 3U);
  EXPECT_EQ(identifying_registers("mov.u32 %r1, %pm3; mov.u64 %rd1, %pm7_64; mov.b32 %r2, %envreg2;").size(), 3U);
}

TEST(IdentifyingRegisters, AreNotPositionsWithinALaunch) {
  EXPECT_EQ(identifying_registers("mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %laneid;\n"
                                  "mov.u32 %r4, %lanemask_lt; mov.u32 %r5, %nctaid.x; mov.u32 %r6, %cluster_ctarank;\n"
                                  "mov.u32 %r7, %dynamic_smem_size;"),
            Names{});
  // Registers of the program whose names begin alike.
  EXPECT_EQ(identifying_registers(".reg .b32 %clock5; mov.u32 %pmax, %smid_of_mine; mov.u32 %pm, 0;"), Names{});
}

}  // namespace
}  // namespace kerf
