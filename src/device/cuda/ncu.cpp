#include "device/cuda/ncu.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "device/device.hpp"

namespace kerf::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDuration = "gpu__time_duration.sum";
constexpr std::array<std::pair<std::string_view, const char*>, 3> kMetrics = {{
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", counter_names::gpu_memory_percent},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", counter_names::gpu_compute_percent},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", counter_names::gpu_warps_percent},
}};

/// The fields of one line of CSV; quotes inside of quotes are doubled.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      const bool doubled = quoted && i + 1 < line.size() && line[i + 1] == '"';
      if (doubled)
        fields.back() += line[i++];
      else
        quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

/// "1,234.5": ncu groups thousands.
std::optional<double> number_of(std::string text) {
  std::erase(text, ',');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

/// The values of one launch, by metric.
using Launch = std::map<std::string, double, std::less<>>;

std::map<std::string, Launch> launches_of(std::string_view printed) {
  std::map<std::string, Launch> launches;
  std::map<std::string, std::size_t> columns;
  for (const std::string& line : split(std::string(printed), '\n')) {
    const std::vector<std::string> fields = fields_of(trim(line));
    if (fields.size() > 3 && fields.front() == "ID") {
      for (std::size_t i = 0; i < fields.size(); ++i) columns[fields[i]] = i;
      continue;
    }
    const auto field = [&](const char* name) -> std::string {
      const auto column = columns.find(name);
      return column != columns.end() && column->second < fields.size() ? fields[column->second] : "";
    };
    if (const auto value = number_of(field("Metric Value"))) launches[field("ID")][field("Metric Name")] = *value;
  }
  return launches;
}

std::string last_words(std::string_view printed) {
  std::string words;
  for (const std::string& line : split(std::string(printed), '\n'))
    if (line.starts_with("==ERROR==") || line.starts_with("==WARNING==")) words = std::string(trim(line));
  return words.substr(0, 300);
}

/// Kills its process group at the latest when it goes.
struct Child {
  pid_t pid = -1;
  ~Child() {
    if (pid <= 0) return;
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
};

}  // namespace

fs::path find_ncu(const std::map<std::string, std::string>& environment) {
  const auto value = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  std::vector<fs::path> places;
  if (const std::string named = value("KERF_NCU"); !named.empty())
    places = {named};
  else {
    for (const std::string& folder : split(value("PATH"), ':'))
      if (folder.starts_with('/')) places.push_back(fs::path(folder) / "ncu");
    for (const char* home : {"CUDA_HOME", "CUDA_PATH"})
      if (!value(home).empty()) places.push_back(fs::path(value(home)) / "bin/ncu");
    places.emplace_back("/usr/local/cuda/bin/ncu");
  }
  const auto found = std::ranges::find_if(places, [](const fs::path& one) { return ::access(one.c_str(), X_OK) == 0; });
  return found == places.end() ? fs::path() : *found;
}

std::vector<std::string> ncu_command(const fs::path& ncu, const std::vector<std::string>& program) {
  std::string metrics(kDuration);
  for (const auto& [metric, name] : kMetrics) metrics += fmt::format(",{}", metric);
  // Clocks stay as they are: other kernels are timed on the same device.
  std::vector<std::string> command = {ncu.string(),       "--csv",     "--clock-control", "none", "--target-processes",
                                      "application-only", "--metrics", std::move(metrics)};
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

Result<std::map<std::string, double>> read_ncu(std::string_view printed) {
  std::map<std::string, double> values;
  std::map<std::string, double> time;
  for (const auto& [id, launch] : launches_of(printed)) {
    const auto duration = launch.find(kDuration);
    const double weight = duration == launch.end() ? 0 : duration->second;
    for (const auto& [metric, name] : kMetrics)
      if (const auto value = launch.find(metric); value != launch.end() && weight > 0) {
        values[name] += weight * value->second;
        time[name] += weight;
      }
  }
  for (auto& [name, sum] : values) sum /= time[name];
  if (!values.empty()) return values;
  const std::string words = last_words(printed);
  return fail(Errc::tool_failed, words.empty() ? "ncu printed no counters" : "ncu: " + words);
}

Result<std::map<std::string, double>> run_ncu(const fs::path& ncu, const std::vector<std::string>& program,
                                              const std::map<std::string, std::string>& environment,
                                              const fs::path& folder, std::chrono::milliseconds limit) {
  std::vector<std::string> command = ncu_command(ncu, program), variables;
  for (const auto& [name, value] : environment) variables.push_back(fmt::format("{}={}", name, value));
  std::vector<char*> argv, envp;
  for (std::string& one : command) argv.push_back(one.data());
  for (std::string& one : variables) envp.push_back(one.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const std::string output = (folder / "ncu.csv").string();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  Child child;
  const int error = ::posix_spawn(&child.pid, command[0].c_str(), &actions, &attributes, argv.data(), envp.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    child.pid = -1;
    return fail(Errc::unavailable, fmt::format("{} cannot be started: {}", ncu.string(), std::strerror(error)));
  }
  constexpr std::chrono::milliseconds kLook{20};
  for (std::chrono::milliseconds waited{0}; ::waitpid(child.pid, nullptr, WNOHANG) == 0; waited += kLook) {
    if (waited >= limit) return fail(Errc::timeout, fmt::format("ncu did not end within {} s", limit.count() / 1000));
    std::this_thread::sleep_for(kLook);
  }
  ::kill(-child.pid, SIGKILL);
  child.pid = -1;
  KERF_TRY(const std::string printed, read_file(output));
  return read_ncu(printed);
}

}  // namespace kerf::cuda
