// `kerf check` of several files: which of them are tasks, and how much of each model.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

#include "app/cli/commands.hpp"
#include "app/cli/model_task.hpp"
#include "base/one_line.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"

namespace kerf::cli {
namespace {

using ManyJson = nlohmann::ordered_json;

/// One file, read or refused.
struct CheckedFile {
  std::string path;
  std::string error;  ///< "" when it is a task
  std::size_t inputs = 0, outputs = 0;
  std::optional<pytorch::ImportedModel> model;

  std::string state() const { return !error.empty() ? "refused" : model && !model->missing.empty() ? "part" : "whole"; }
};

CheckedFile check_one(const std::string& path, const std::string& target, ModelReader& models,
                      const Environment& environment) {
  CheckedFile file{path, "", 0, 0, {}};
  const auto keep = [&](const Task& task) {
    file.inputs = task.inputs.size();
    file.outputs = task.outputs.size();
  };
  if (pytorch::is_model_file(path)) {
    auto read = models.read(path, target);
    if (!read) {
      file.error = read.error().message;
      return file;
    }
    keep(read->text.task);
    file.model = std::move(read->model);
    return file;
  }
  const auto task = load_checked_task(path, environment);
  if (task)
    keep(*task);
  else
    file.error = task.error().message;
  return file;
}

std::string missing_operators(const CheckedFile& file) {
  std::vector<std::string> names;
  for (const auto& one : file.model->missing)
    if (std::find(names.begin(), names.end(), one.name) == names.end()) names.push_back(one_line(one.name));
  return join(names, ", ");
}

std::string file_words(const CheckedFile& file) {
  if (!file.error.empty()) return one_line(file.error.substr(0, file.error.find('\n')));
  if (!file.model) return "a task file";
  if (file.model->missing.empty()) return "the whole model";
  return fmt::format("about {:.0f} % of the arithmetic; with PyTorch stays {}", 100 * file.model->share,
                     missing_operators(file));
}

ManyJson file_json(const CheckedFile& file) {
  ManyJson json{{"schema", 1},
                {"file", file.path},
                {"state", file.state()},
                {"error", file.error},
                {"inputs", file.inputs},
                {"outputs", file.outputs},
                {"share", nullptr},
                {"uncovered", ManyJson::array()},
                {"dropped", ManyJson::array()}};
  if (!file.model) return json;
  json["share"] = file.model->share;
  json["dropped"] = file.model->dropped;
  for (const auto& one : file.model->missing)
    json["uncovered"].push_back({{"operator", one.name}, {"line", one.line}, {"count", one.count}});
  return json;
}

}  // namespace

Status check_many(const CheckOptions& options, const Environment& environment, Console& console) {
  if (options.print_task) return fail(Errc::invalid_input, "--print-task takes one file");
  KERF_TRY(const auto models, ModelReader::make(options.tasks, environment));
  std::vector<CheckedFile> files(options.tasks.size());
  std::mutex mutex;
  std::size_t next = 0;
  const int jobs = std::min(available_cores(), 8);
  parallel_for(jobs, 1, jobs, [&](std::int64_t, std::int64_t) {
    for (;;) {
      std::size_t mine = 0;
      {
        const std::scoped_lock lock(mutex);
        if (next == files.size()) return;
        mine = next++;
      }
      files[mine] = check_one(options.tasks[mine], options.target, *models, environment);
    }
  });
  std::map<std::string, std::size_t> counts;
  for (const CheckedFile& file : files) {
    ++counts[file.state()];
    if (options.json)
      console.out << file_json(file).dump(-1, ' ', false, ManyJson::error_handler_t::replace) << "\n";
    else
      console.out << fmt::format("{:8}{}  {}\n", file.state(),
                                 one_line(std::filesystem::path(file.path).filename().string()), file_words(file));
  }
  console.out << std::flush;
  if (!options.json)
    console.out << fmt::format("{} of {} whole, {} in part, {} refused\n", counts["whole"], files.size(),
                               counts["part"], counts["refused"])
                << std::flush;
  if (counts["refused"] == 0) return {};
  return fail(Errc::invalid_input, fmt::format("{} of {} files are no tasks", counts["refused"], files.size()));
}

}  // namespace kerf::cli
