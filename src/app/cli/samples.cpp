#include "app/cli/samples.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kerf::samples {

/// Generated: the files of tasks/.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

}  // namespace kerf::samples

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTaskEnding = ".toml";

}  // namespace

std::vector<std::string> sample_names() {
  std::vector<std::string> names;
  for (const auto& [path, text] : samples::embedded_files())
    if (path.ends_with(kTaskEnding)) names.emplace_back(path.substr(0, path.size() - kTaskEnding.size()));
  return names;
}

Result<TaskText> read_sample(const std::string& name) {
  TaskText text;
  nlohmann::json files = nlohmann::json::object();
  const std::string folder = fs::path(name).parent_path().string();
  for (const auto& [path, content] : samples::embedded_files()) {
    if (path == name + std::string(kTaskEnding)) text.source = content;
    // What a sample names lies beside it.
    if (!path.ends_with(kTaskEnding) && fs::path(path).parent_path() == folder)
      files[fs::path(path).filename().string()] = content;
  }
  if (text.source.empty()) {
    const auto known = sample_names();
    return fail(Errc::not_found, fmt::format("there is no sample '{}'{}; choose one of: {}", name,
                                             did_you_mean(name, known), join(known, ", ")));
  }
  text.origin = std::string(kSamplePrefix) + name;
  KERF_TRY(text.task, restore_task(text.source, files.empty() ? "" : files.dump(), fs::path(name).filename().string()));
  return text;
}

Result<std::vector<fs::path>> write_samples(const fs::path& folder) {
  std::vector<std::string> different;
  for (const auto& [path, text] : samples::embedded_files()) {
    const auto present = read_file(folder / path);
    if (present && *present != text) different.push_back((folder / path).string());
  }
  if (!different.empty())
    return fail(Errc::invalid_input, fmt::format("{} exists and differs; nothing was written, choose another folder",
                                                 join(different, ", ")));
  std::vector<fs::path> written;
  for (const auto& [path, text] : samples::embedded_files()) {
    KERF_TRY_VOID(write_file_atomic(folder / path, text));
    written.push_back(folder / path);
  }
  return written;
}

Result<std::vector<TaskText>> expression_samples() {
  std::vector<TaskText> list;
  for (const std::string& name : sample_names()) {
    KERF_TRY(TaskText one, read_sample(name));
    if (one.task.graph) list.push_back(std::move(one));
  }
  return list;
}

}  // namespace kerf::cli
