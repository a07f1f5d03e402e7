#include "oracle/footprint.hpp"

#include <gtest/gtest.h>

#include "base/memory.hpp"
#include "oracle/inputs.hpp"

namespace kerf::oracle {
namespace {

Task large_task(std::int64_t rows) {
  Task task;
  task.name = "large";
  const Dim n = Dim::symbol("n");
  task.inputs = {{"x", DType::f32, {n, n}}, {"w", DType::f16, {n}}};
  task.outputs = {{"y", DType::f32, {n}}};
  task.shapes = {{"default", {{"n", rows}}, 1, {}}};
  task.distributions.resize(2);
  return task;
}

TEST(Footprint, CountsInputsAsStoredAndOutputsWithTheirBounds) {
  const Task task = large_task(100);
  EXPECT_EQ(*data_bytes(task, task.shapes[0]), 100 * 100 * 4 + 100 * 2 + 100 * 16);
}

TEST(Footprint, SaysWhatIsTooLargeAndWhatToTry) {
  const Task task = large_task(1 << 20);
  const Status status = check_memory(task, task.shapes[0], std::int64_t{8} << 30);
  ASSERT_FALSE(status);
  for (const char* part :
       {"shape set 'default'", "4096.0 GiB", "8.0 GiB are free", "x f32[1048576, 1048576]", "smaller"})
    EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
  EXPECT_TRUE(check_memory(task, task.shapes[0], std::int64_t{1} << 50));
}

TEST(Footprint, DataThatCannotBeHeldIsNotDrawn) {
  const Task task = large_task(std::int64_t{1} << 30);  // 4 EiB
  const auto inputs = draw_inputs(task, task.shapes[0], {Pattern::normal, 1});
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().code, Errc::unavailable);
}

TEST(Memory, ReadsWhatTheKernelCallsAvailable) {
  EXPECT_EQ(available_in_meminfo("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), 2048 * 1024);
  EXPECT_EQ(available_in_meminfo("nothing"), -1);
  EXPECT_GT(available_memory_bytes(), 0);
}

}  // namespace
}  // namespace kerf::oracle
