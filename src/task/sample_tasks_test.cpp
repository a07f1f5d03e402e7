// The tasks that come with Kerf are read, and each has what the others rely on.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_paths.hpp"
#include "ir/analysis/cost.hpp"
#include "task/task.hpp"

namespace kerf {
namespace {

std::vector<std::filesystem::path> sample_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_folder() / "tasks"))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  return files;
}

double elements(const Task& task, const ShapeSet& set) {
  double total = 0;
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors)
      total += static_cast<double>(element_count(tensor.shape).evaluate(set.symbols).value());
  return total;
}

TEST(SampleTasks, AreAllThere) { EXPECT_GE(sample_files().size(), 18u); }

TEST(SampleTasks, AreReadAndDescribed) {
  for (const auto& file : sample_files()) {
    const auto task = load_task(file);
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_EQ(task->name, file.stem().string());
    EXPECT_FALSE(task->description.empty()) << file;
  }
}

TEST(SampleTasks, HaveASmallOddTailAndATimedSetForEveryTarget) {
  for (const auto& file : sample_files()) {
    const auto task = load_task(file);
    ASSERT_TRUE(task) << task.error().message;
    for (const auto* target : {"cpu", "opencl", "cuda"}) {
      const auto sets = shapes_for(*task, target);
      EXPECT_GE(sets.size(), 2u) << file << " on " << target;
      bool tail = false;
      for (const auto& set : sets) {
        tail = tail || set.name == "tail";
        if (set.name == "tail") {
          EXPECT_EQ(set.weight, 0) << file;
          EXPECT_LT(elements(*task, set), 100000) << file;
        } else {
          EXPECT_GT(set.weight, 0) << file;
        }
      }
      EXPECT_TRUE(tail) << file << " on " << target;
    }
  }
}

TEST(SampleTasks, AreSmallEnoughForTwoCores) {
  for (const auto& file : sample_files()) {
    const auto task = load_task(file);
    ASSERT_TRUE(task) << task.error().message;
    for (const auto& set : shapes_for(*task, "cpu")) {
      EXPECT_LE(elements(*task, set), 8e6) << file;
      if (!task->graph) continue;
      const auto cost = ir::cost(*task->graph, set.symbols);
      ASSERT_TRUE(cost) << cost.error().message;
      EXPECT_LT(cost->fma_flops, 2e9) << file;
    }
  }
}

TEST(SampleTasks, AreLargerThanAnyCacheOnAGpu) {
  for (const auto& file : sample_files()) {
    const auto task = load_task(file);
    ASSERT_TRUE(task) << task.error().message;
    if (!task->graph) continue;
    for (const auto& set : shapes_for(*task, "cuda")) {
      if (set.weight == 0) continue;
      const auto cost = ir::cost(*task->graph, set.symbols);
      ASSERT_TRUE(cost) << cost.error().message;
      const bool computes = cost->fma_flops > 1e10;
      EXPECT_TRUE(computes || cost->bytes_read + cost->bytes_written >= 256e6) << file;
    }
  }
}

}  // namespace
}  // namespace kerf
