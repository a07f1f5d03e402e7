#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "app/cli/commands.hpp"
#include "app/cli/model_task.hpp"
#include "app/cli/samples.hpp"
#include "base/text.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace {

/// The task file in the same folder whose name is nearest; "" when none is near.
std::string file_beside(const std::filesystem::path& path) {
  constexpr int kMostFiles = 1000;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  std::vector<std::string> names;
  int looked_at = 0;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end && looked_at < kMostFiles;
       at.increment(error), ++looked_at)
    if (at->path().extension() == ".toml" || pytorch::is_model_file(at->path().string()))
      names.push_back(at->path().filename().string());
  const std::string guess = nearest(path.filename().string(), names);
  return guess.empty() || !path.has_extension() ? "" : (path.parent_path() / guess).string();
}

/// " (did you mean 'sample:softmax'?)": a name without its ending, a file beside, or a sample.
std::string task_hint(const std::string& path) {
  std::error_code error;
  for (const std::string& file : {path + ".toml", "tasks/" + path + ".toml", "tasks/" + path})
    if (std::filesystem::is_regular_file(file, error)) return fmt::format(" (did you mean '{}'?)", file);
  if (const std::string beside = file_beside(path); !beside.empty())
    return fmt::format(" (did you mean '{}'?)", beside);
  const std::string stem = std::filesystem::path(path).stem().string(), guess = nearest(stem, sample_names());
  return guess.empty() ? "" : fmt::format(" (did you mean '{}{}'?)", kSamplePrefix, guess);
}

}  // namespace

Result<Task> load_checked_task(const std::string& path, const Environment& environment, const std::string& wanted) {
  KERF_TRY(TaskText text, read_checked_task(path, environment, wanted));
  return std::move(text.task);
}

Result<TaskText> read_checked_task(const std::string& path, const Environment& environment, const std::string& wanted) {
  if (pytorch::is_model_file(path)) {
    KERF_TRY(ModelTask model, read_model_task(path, environment, wanted));
    return std::move(model.text);
  }
  std::error_code error;
  const bool sample = path.starts_with(kSamplePrefix);
  if (!sample && !std::filesystem::exists(path, error))
    return fail(Errc::not_found, fmt::format("there is no task file '{}'{}; 'kerf tasks' lists the sample tasks, 'kerf "
                                             "new NAME' writes one to start from",
                                             path, task_hint(path)));
  if (!sample && !target_for_extension(std::filesystem::path(path).extension().string()).empty())
    return fail(Errc::invalid_input,
                fmt::format("{} is a kernel by its name, and a task is wanted: the task comes before kernels", path));
  KERF_TRY(TaskText text, sample ? read_sample(path.substr(kSamplePrefix.size())) : read_task(path));
  const Task& task = text.task;
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
  return text;
}

std::uint64_t fresh_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

}  // namespace kerf::cli
