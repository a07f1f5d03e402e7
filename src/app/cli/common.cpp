#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "app/cli/commands.hpp"
#include "base/text.hpp"
#include "task/task.hpp"

namespace kerf::cli {

Status check_target_name(const std::string& name) {
  const auto known = target_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return {};
  return fail(Errc::invalid_input, fmt::format("unknown target '{}'{}; choose one of: {}", name,
                                               did_you_mean(name, known), join(known, ", ")));
}

Result<Task> load_checked_task(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return fail(Errc::not_found, fmt::format("there is no task file '{}'; 'kerf tasks' lists the sample tasks", path));
  KERF_TRY(Task task, load_task(path));
  const auto check = [&](const std::string& target, const std::string& where) -> Status {
    if (auto status = check_target_name(target); !status)
      return fail(Errc::invalid_input, fmt::format("{}: {}: {}", path, where, status.error().message));
    return {};
  };
  for (const auto& set : task.shapes) {
    for (const auto& target : set.targets) {
      KERF_TRY_VOID(check(target, fmt::format("shape set '{}'", set.name)));
    }
  }
  for (const auto& baseline : task.baselines) {
    KERF_TRY_VOID(check(baseline.target, fmt::format("[baselines.{}]", baseline.name)));
  }
  return task;
}

Result<Settings> parse_settings(const std::vector<std::string>& texts) {
  Settings settings;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    const std::string key(trim(text.substr(0, equals)));
    const std::string value(equals == std::string::npos ? "" : trim(text.substr(equals + 1)));
    if (key.empty() || value.empty())
      return fail(Errc::invalid_input,
                  fmt::format("--set '{}': expected NAME=VALUE, for example --set BLOCK=256", text));
    if (key.find('.') != std::string::npos) {
      settings.options.emplace_back(key, value);
      continue;
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size())
      return fail(Errc::invalid_input, fmt::format("--set '{}': a tunable's value is an integer", text));
    if (!settings.tunables.emplace(key, number).second)
      return fail(Errc::invalid_input, fmt::format("--set gives '{}' twice", key));
  }
  return settings;
}

}  // namespace kerf::cli
