#include "app/cli/run_task.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "judge/judge.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace fs = std::filesystem;
namespace {

/// A folder that is removed with what is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "kerf-task-XXXXXX").string();
    if (const char* made = ::mkdtemp(pattern.data())) path_ = made;
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

Result<Task> task_from_texts(const std::string& source, const std::string& files, const std::string& name) {
  const std::string file = name + ".toml";
  if (files.empty()) return parse_task(source, fs::path(), file);
  // Files that the task names are read from a folder of their own.
  const TemporaryFolder folder;
  if (folder.path().empty()) return fail(Errc::io, "cannot make a temporary folder");
  const auto json = nlohmann::json::parse(files, nullptr, false);
  if (!json.is_object()) return fail(Errc::invalid_input, "the files of the task cannot be read");
  for (const auto& [path, text] : json.items()) {
    const fs::path relative = fs::path(path).lexically_normal();
    if (relative.is_absolute() || relative.string().starts_with("..") || !text.is_string())
      return fail(Errc::invalid_input, fmt::format("the task names '{}', which is outside of its folder", path));
    KERF_TRY_VOID(write_file_atomic(folder.path() / relative, text.get<std::string>()));
  }
  return parse_task(source, folder.path(), file);
}

Result<Task> task_of_run(const report::RunView& run) {
  if (run.fact("task_source").empty())
    return fail(Errc::invalid_input,
                fmt::format("{} does not hold its task; it was interrupted before it began", run.folder.string()));
  return task_from_texts(run.fact("task_source"), run.fact("task_files"), run.fact("task"));
}

Result<Chosen> choose_kernel(const report::RunView& run, const std::string& step) {
  KERF_TRY(const auto number, report::find_step(run, step.empty() ? "best" : step));
  const Step& chosen = run.step(number);
  if (!(report::speedup_of(chosen) > 0))
    return fail(Errc::invalid_input, fmt::format("step {} did not pass every gate ({}); choose another", number,
                                                 outcome_name(chosen.evaluation.outcome)));
  Chosen result;
  result.step = number;
  KERF_TRY(result.candidate, parse_candidate(chosen.name, chosen.source));
  if (result.candidate.target.empty()) result.candidate.target = chosen.evaluation.target;
  KERF_TRY(result.tunables, resolve_tunables(result.candidate, chosen.tunables));
  return result;
}

}  // namespace kerf::cli
