#include "measure/peaks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace kerf {
namespace {

const Peaks kPeaks{"d", {{"copy", 1e12}, {"fma_f32", 1e13}, {"tensor_tf32", 1e14}, {"tensor_f16", 2e14}}};

TEST(Floor, IsTheLargerOfMemoryAndCompute) {
  ir::Cost cost;
  cost.bytes_read = cost.bytes_written = 5e6;  // 10 us
  cost.fma_flops = 1e9;                        // 15 us in f32 on the tensor units, 5 us in tf32
  const auto f32 = floor_of(cost, kPeaks, Precision::f32);
  EXPECT_DOUBLE_EQ(f32->floor_us, 15);
  EXPECT_EQ(f32->bound, "compute");
  const auto tf32 = floor_of(cost, kPeaks, Precision::tf32);
  EXPECT_DOUBLE_EQ(tf32->floor_us, 10);
  EXPECT_EQ(tf32->bound, "memory");
}

TEST(Floor, IsThatOfTheFastestUnitThatReachesTheAccuracyClass) {
  ir::Cost cost;
  cost.fma_flops = 2.0 * 4096 * 4096 * 4096;
  const Peaks h200{"d", {{"copy", 4e12}, {"fma_f32", 64e12}, {"tensor_f16", 900e12}, {"tensor_bf16", 950e12}}};
  EXPECT_NEAR(floor_of(cost, h200, Precision::f32)->floor_us, cost.fma_flops / 300e12 * 1e6, 1e-6);
  EXPECT_NEAR(floor_of(cost, h200, Precision::tf32)->floor_us, cost.fma_flops / 900e12 * 1e6, 1e-6);
  EXPECT_NEAR(floor_of(cost, h200, Precision::bf16)->floor_us, cost.fma_flops / 950e12 * 1e6, 1e-6);
  const Peaks plain{"d", {{"copy", 4e12}, {"fma_f32", 64e12}}};
  for (const Precision precision : {Precision::f32, Precision::tf32, Precision::f16})
    EXPECT_NEAR(floor_of(cost, plain, precision)->floor_us, cost.fma_flops / 64e12 * 1e6, 1e-6);
}

TEST(Floor, NeedsACalibratedBandwidth) { EXPECT_FALSE(floor_of({}, Peaks{}, Precision::f32).has_value()); }

TEST(PhysicalFloor, UsesTheFastestUnitAndIgnoresAvoidableWork) {
  DeviceFacts facts;
  ir::Cost cost;
  cost.fma_flops = 2e14;  // one second on the fastest unit
  EXPECT_DOUBLE_EQ(*physical_floor_us(cost, kPeaks, facts), 1e6);
  cost.fma_avoidable = true;
  EXPECT_DOUBLE_EQ(*physical_floor_us(cost, kPeaks, facts), 0);
}

TEST(PhysicalFloor, MakesNoClaimAboutDataThatFitsTheCache) {
  DeviceFacts facts;
  facts.cache_bytes = 1 << 20;
  ir::Cost cost;
  cost.bytes_read = 1 << 20;
  EXPECT_EQ(*physical_floor_us(cost, kPeaks, facts), 0);
  cost.bytes_read = 1 << 24;
  EXPECT_GT(*physical_floor_us(cost, kPeaks, facts), 0);
}

TEST(Peaks, AreKeptPerDeviceAndDriver) {
  const auto folder = std::filesystem::temp_directory_path() / ("kerf_peaks_" + std::to_string(::getpid()));
  DeviceFacts facts;
  facts.id = "cuda:0";
  facts.name = "GPU";
  facts.driver = "1";
  ASSERT_TRUE(save_peaks(folder, facts, kPeaks));
  EXPECT_EQ(load_peaks(folder, facts)->rates, kPeaks.rates);
  facts.driver = "2";
  EXPECT_FALSE(load_peaks(folder, facts).has_value());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) std::ofstream(entry.path()) << "{";
  facts.driver = "1";
  EXPECT_FALSE(load_peaks(folder, facts).has_value());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kerf
