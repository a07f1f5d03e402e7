#include "base/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

namespace kerf {
namespace {

std::string text_of(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The first number of a file, or -1 ("max" is none).
std::int64_t number_in(const char* path) {
  const std::string text = text_of(path);
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  return end == text.c_str() ? -1 : value;
}

}  // namespace

std::int64_t available_in_meminfo(const std::string& text) {
  constexpr std::string_view kKey = "MemAvailable:";
  const std::size_t at = text.find(kKey);
  if (at == std::string::npos) return -1;
  return std::strtoll(text.c_str() + at + kKey.size(), nullptr, 10) * 1024;
}

std::int64_t available_memory_bytes() {
  std::int64_t available = std::numeric_limits<std::int64_t>::max();
  if (const std::int64_t free = available_in_meminfo(text_of("/proc/meminfo")); free >= 0) available = free;
  const std::int64_t limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (limit >= 0 && used >= 0) available = std::min(available, std::max<std::int64_t>(0, limit - used));
  return available;
}

std::string bytes_text(double bytes) {
  if (bytes >= 0x1p30) return fmt::format("{:.1f} GiB", bytes / 0x1p30);
  if (bytes >= 0x1p20) return fmt::format("{:.1f} MiB", bytes / 0x1p20);
  return fmt::format("{:.0f} bytes", bytes);
}

}  // namespace kerf
