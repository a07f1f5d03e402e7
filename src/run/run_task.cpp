#include "run/run_task.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "task/task.hpp"

namespace kerf {
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

/// How many folders up a path begins: 2 of "../../kernels/a.cu".
std::ptrdiff_t steps_up(const fs::path& path) { return std::count(path.begin(), path.end(), fs::path("..")); }

std::string fact(const std::map<std::string, std::string>& facts, const std::string& key) {
  const auto found = facts.find(key);
  return found == facts.end() ? "" : found->second;
}

}  // namespace

Result<TaskText> read_task(const fs::path& path) {
  TaskText text;
  KERF_TRY(text.task, load_task(path));
  KERF_TRY(text.source, read_file(path));
  std::error_code error;
  text.origin = fs::absolute(path, error).string();
  return text;
}

std::string task_files(const Task& task) {
  std::map<std::string, std::string> files;
  if (task.cpp) files[task.cpp->path] = task.cpp->source;
  for (const BaselineSpec& baseline : task.baselines) files[baseline.path] = baseline.source;
  return files.empty() ? "" : nlohmann::json(files).dump();
}

Result<Task> restore_task(const std::string& source, const std::string& files, const std::string& name) {
  const std::string file = name + ".toml";
  if (files.empty()) return parse_task(source, fs::path(), file);
  const auto json = nlohmann::json::parse(files, nullptr, false);
  if (!json.is_object()) return fail(Errc::invalid_input, "the files of the task cannot be read");
  // They are put into a folder of their own, as deep as the task's paths go up.
  const TemporaryFolder root;
  if (root.path().empty()) return fail(Errc::io, "cannot make a temporary folder");
  constexpr std::ptrdiff_t kDeepest = 64;
  std::ptrdiff_t depth = 0;
  for (const auto& [path, text] : json.items()) {
    const fs::path relative = fs::path(path).lexically_normal();
    depth = std::max(depth, steps_up(relative));
    if (relative.is_absolute() || depth > kDeepest || !text.is_string())
      return fail(Errc::invalid_input, fmt::format("the task names '{}', which cannot be restored", path));
  }
  fs::path folder = root.path();
  for (std::ptrdiff_t i = 0; i < depth; ++i) folder /= "task";
  std::error_code error;
  fs::create_directories(folder, error);
  for (const auto& [path, text] : json.items())
    KERF_TRY_VOID(write_file_atomic((folder / path).lexically_normal(), text.get<std::string>()));
  return parse_task(source, folder, file);
}

Status store_task(RunStore& store, const TaskText& text) {
  KERF_TRY_VOID(store.set("task", text.task.name));
  KERF_TRY_VOID(store.set("task_path", text.origin));
  if (const std::string files = task_files(text.task); !files.empty()) {
    KERF_TRY_VOID(store.set("task_files", files));
  }
  if (!text.model.empty()) {
    KERF_TRY_VOID(store.set("model", text.model));
  }
  return store.set("task_source", text.source);  // last: a run without it never started
}

Result<TaskText> stored_task(const std::map<std::string, std::string>& facts, const std::string& run) {
  TaskText text;
  text.source = fact(facts, "task_source");
  text.origin = fact(facts, "task_path");
  text.model = fact(facts, "model");
  if (text.source.empty())
    return fail(Errc::invalid_input, run + " does not hold its task: it was interrupted before it began");
  KERF_TRY(text.task, restore_task(text.source, fact(facts, "task_files"), fact(facts, "task")));
  return text;
}

}  // namespace kerf
