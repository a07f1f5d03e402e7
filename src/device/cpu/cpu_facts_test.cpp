#include "device/cpu/cpu_facts.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kerf {
namespace {

TEST(CpuFacts, DescribeThisMachine) {
  const DeviceFacts facts = read_cpu_facts();
  EXPECT_EQ(facts.id, "cpu");
  EXPECT_FALSE(facts.name.empty());
  EXPECT_GE(facts.compute_units, 1);
  EXPECT_GT(facts.memory_bytes, 100 << 20);
  EXPECT_GT(facts.cache_bytes, 100 << 10);
  EXPECT_TRUE(facts.runs_on_host);
}

TEST(CpuFacts, AddUpLastLevelCachesOnce) {
  char name[] = "/tmp/kerf-facts-XXXXXX";
  const std::filesystem::path root = ::mkdtemp(name);
  const auto write = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text << "\n";
  };
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/";
    write(folder + "index0/level", "1");
    write(folder + "index0/type", "Data");
    write(folder + "index0/size", "32K");
    write(folder + "index0/shared_cpu_list", std::to_string(cpu));
    write(folder + "index1/level", "3");
    write(folder + "index1/type", "Unified");
    write(folder + "index1/size", "16384K");
    write(folder + "index1/shared_cpu_list", "0-3");
  }
  write("proc/cpuinfo", "processor : 0\nmodel name\t: Test Processor 9000");
  write("proc/meminfo", "MemTotal:       1024 kB");
  const DeviceFacts facts = read_cpu_facts(root);
  std::filesystem::remove_all(root);
  EXPECT_EQ(facts.cache_bytes, 16384 << 10);
  EXPECT_EQ(facts.name, "Test Processor 9000");
  EXPECT_EQ(facts.memory_bytes, 1 << 20);
}

}  // namespace
}  // namespace kerf
