#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cli/commands.hpp"
#include "app/cli/samples.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

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

std::vector<Cell> task_row(const std::string& where, const std::string& name, const Result<Task>& task) {
  if (task) return {{task->name, Colour::bold}, {printable(where)}, {printable(task->description)}};
  return {{name, Colour::red}, {printable(where)}, {printable(task.error().message), Colour::red}};
}

Status add_folder(const fs::path& folder, std::vector<std::vector<Cell>>& rows) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return fail(Errc::not_found, fmt::format("there is no folder '{}'; give one: kerf tasks FOLDER", folder.string()));
  KERF_TRY(const auto files, task_files(folder));
  if (files.empty()) return fail(Errc::not_found, fmt::format("no task files (*.toml) in {}", folder.string()));
  for (const auto& file : files) rows.push_back(task_row(file.string(), file.stem().string(), load_task(file)));
  return {};
}

}  // namespace

Status tasks(const TasksOptions& options, const Environment&, Console& console) {
  if (!options.write.empty()) {
    KERF_TRY(const auto written, write_samples(options.write));
    for (const auto& file : written) console.out << file.string() << "\n";
    console.out << std::flush;
    return {};
  }
  std::vector<std::vector<Cell>> rows{{{"task"}, {"file", {}, false, true}, folding("what it computes")}};
  std::error_code error;
  if (!options.folder.empty() || fs::is_directory("tasks", error)) {
    KERF_TRY_VOID(add_folder(options.folder.empty() ? "tasks" : options.folder, rows));
  }
  if (options.folder.empty())
    for (const auto& name : sample_names()) {
      const auto text = read_sample(name);
      rows.push_back(task_row(std::string(kSamplePrefix) + name, name,
                              text ? Result<Task>(text->task) : tl::unexpected<Error>(text.error())));
    }
  console.out << table(rows, console.out_style) << std::flush;
  return {};
}

}  // namespace kerf::cli
