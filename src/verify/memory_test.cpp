#include "verify/memory.hpp"

#include <gtest/gtest.h>

namespace kerf {
namespace {

/// y[n] of x[n], both f32.
Task task() {
  Task task;
  task.inputs = {{"x", DType::f32, {Dim::symbol("n")}}};
  task.outputs = {{"y", DType::f32, {Dim::symbol("n")}}};
  return task;
}
const ShapeSet kLarge{"large", {{"n", std::int64_t{1} << 30}}, 1, {}};

TEST(Memory, CountsDataSetsAndCopiesOfTheBuffers) {
  const MemoryNeed need = memory_need(task(), kLarge, 2, 3);
  const double n = std::int64_t{1} << 30;
  EXPECT_EQ(need.host, 3 * (4 * n + 16 * n));  // expected values and bounds are doubles
  EXPECT_GE(need.device, 2 * 8 * n);
  EXPECT_LE(need.device, 2 * 8 * n + (1 << 20));
}

TEST(Memory, AnErrorNamesTheShapeTheBytesAndWhatToTry) {
  const MemoryNeed need{60.0 * (1 << 30), 16.0 * (1 << 30)};
  EXPECT_TRUE(check_memory(kLarge, need, {std::int64_t{80} << 30, 0, true}));
  const auto host = check_memory(kLarge, need, {std::int64_t{70} << 30, 0, true});
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().code, Errc::invalid_input);
  for (const char* part : {"shape 'large'", "76.0 GiB", "70.0 GiB are free", "--shape NAME"})
    EXPECT_NE(host.error().message.find(part), std::string::npos) << host.error().message;
  EXPECT_TRUE(check_memory(kLarge, need, {std::int64_t{70} << 30, std::int64_t{16} << 30, false}));
  const auto device = check_memory(kLarge, need, {std::int64_t{70} << 30, std::int64_t{8} << 30, false});
  ASSERT_FALSE(device);
  EXPECT_NE(device.error().message.find("the device has 8.0 GiB"), std::string::npos) << device.error().message;
}

TEST(Memory, WhatIsNotKnownFits) { EXPECT_TRUE(check_memory(kLarge, {1e18, 1e18}, {})); }

}  // namespace
}  // namespace kerf
