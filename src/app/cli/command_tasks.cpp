#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cli/commands.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

/// tasks/ here, or in the source tree that this program was built in (build/<preset>/kerf).
fs::path default_folder(const Environment& environment) {
  std::error_code error;
  if (fs::is_directory("tasks", error)) return "tasks";
  return environment.self.parent_path().parent_path().parent_path() / "tasks";
}

Result<std::vector<fs::path>> task_files(const fs::path& folder) {
  constexpr std::size_t kMaxFiles = 10000;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".toml") files.push_back(at->path());
    if (files.size() > kMaxFiles)
      return fail(Errc::invalid_input, fmt::format("more than {} files in {}", kMaxFiles, folder.string()));
  }
  if (error) return fail(Errc::io, fmt::format("cannot list {}: {}", folder.string(), error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Status tasks(const TasksOptions& options, const Environment& environment, Console& console) {
  const fs::path folder = options.folder.empty() ? default_folder(environment) : fs::path(options.folder);
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return fail(Errc::not_found, fmt::format("there is no folder '{}'; give one: kerf tasks FOLDER", folder.string()));
  KERF_TRY(const auto files, task_files(folder));
  if (files.empty()) return fail(Errc::not_found, fmt::format("no task files (*.toml) in {}", folder.string()));
  std::vector<std::vector<Cell>> rows{{{"task"}, {"file"}, {"what it computes"}}};
  for (const auto& file : files) {
    const auto task = load_task(file);
    if (task)
      rows.push_back({{task->name, Colour::bold}, {printable(file.string())}, {printable(task->description)}});
    else
      rows.push_back({{file.stem().string(), Colour::red},
                      {printable(file.string())},
                      {printable(task.error().message), Colour::red}});
  }
  console.out << table(rows, console.out_style) << std::flush;
  return {};
}

}  // namespace kerf::cli
