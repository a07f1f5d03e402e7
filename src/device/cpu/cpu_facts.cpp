#include "device/cpu/cpu_facts.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "base/parallel.hpp"
#include "base/text.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

// Virtual machines often hide the caches; too large is safe, since it only makes rotation longer.
constexpr std::int64_t kAssumedCacheBytes = 32LL << 20;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(trim(line));
}

/// "512K", "32768K", "1M" in bytes.
std::int64_t size_bytes(const std::string& text) {
  char* end = nullptr;
  const std::int64_t number = std::strtoll(text.c_str(), &end, 10);
  switch (end != nullptr ? *end : '\0') {
    case 'K': return number << 10;
    case 'M': return number << 20;
    case 'G': return number << 30;
    default: return number;
  }
}

// "model name : AMD EPYC 7713" of x86, "CPU part" of Arm has no name.
std::string model_name(const fs::path& root) {
  std::ifstream file(root / "proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    if (const auto colon = line.find(':'); colon != std::string::npos) return std::string(trim(line.substr(colon + 1)));
  }
  return "processor";
}

std::int64_t memory_bytes(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string word;
  std::int64_t kib = 0;
  while (file >> word) {
    if (word == "MemTotal:" && file >> kib) return kib << 10;
  }
  return 0;
}

// All last-level caches together: a kernel on all cores has the sum of them.
std::int64_t last_level_cache_bytes(const fs::path& root) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  ::sched_getaffinity(0, sizeof usable, &usable);
  int highest = 0;
  std::int64_t total = 0;
  std::set<std::string> seen;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &usable)) continue;
    for (int index = 0; index < 8; ++index) {
      const fs::path folder = root / fmt::format("sys/devices/system/cpu/cpu{}/cache/index{}", cpu, index);
      const int level = std::atoi(first_line(folder / "level").c_str());
      if (level == 0 || first_line(folder / "type") == "Instruction" || level < highest) continue;
      if (level > highest) {
        highest = level;
        total = 0;
        seen.clear();
      }
      if (seen.insert(first_line(folder / "shared_cpu_list")).second) total += size_bytes(first_line(folder / "size"));
    }
  }
  return total > 0 ? total : kAssumedCacheBytes;
}

}  // namespace

DeviceFacts read_cpu_facts(const fs::path& root) {
  DeviceFacts facts;
  facts.id = "cpu";
  facts.name = model_name(root);
  utsname system{};
  ::uname(&system);
  facts.driver = fmt::format("{} {}", system.sysname, system.release);
#if defined(__x86_64__)
  facts.arch = "x86-64-native";
#else
  facts.arch = fmt::format("{}-native", system.machine);
#endif
  facts.compute_units = available_cores();
  facts.memory_bytes = memory_bytes(root);
  facts.cache_bytes = last_level_cache_bytes(root);
  facts.runs_on_host = true;
  return facts;
}

}  // namespace kerf
