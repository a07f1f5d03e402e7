#include "app/cli/host_load.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <thread>
#include <utility>

namespace kerf::cli {

std::optional<double> busy_share(std::chrono::milliseconds over) {
  const auto sample = []() -> std::optional<std::pair<double, double>> {  // idle and all time so far
    std::ifstream file("/proc/stat");
    std::string word;
    double value = 0, all = 0, idle = 0;
    if (!(file >> word) || word != "cpu") return std::nullopt;
    for (int field = 0; field < 8 && file >> value; ++field) {
      all += value;
      if (field == 3 || field == 4) idle += value;
    }
    return std::pair{idle, all};
  };
  const auto before = sample();
  std::this_thread::sleep_for(over);
  const auto after = sample();
  if (!before || !after || after->second <= before->second) return std::nullopt;
  return 1 - (after->first - before->first) / (after->second - before->second);
}

std::string busy_words(std::optional<double> share) {
  if (!share || *share <= kQuietShare) return "";
  return fmt::format(
      "other programs use {:.0f} % of the cores: times vary more and intervals are wider than on a quiet "
      "machine",
      100 * *share);
}

}  // namespace kerf::cli
