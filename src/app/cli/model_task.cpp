#include "app/cli/model_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace {

constexpr std::size_t kNotes = 8;  ///< shown; the rest is counted

std::string missing_words(const pytorch::UncoveredOperator& one) {
  std::string words = one_line(one.name);
  std::vector<std::string> places;
  if (one.line > 0) places.push_back(fmt::format("line {}", one.line));
  if (!one.module.empty()) places.push_back(one_line(one.module));
  if (one.count > 1) places.push_back(fmt::format("{} times", one.count));
  return places.empty() ? words : words + " (" + join(places, ", ") + ")";
}

Result<ModelTask> read_over(const std::string& path, const Environment& environment, const std::string& target,
                            Sandbox& sandbox, pytorch::BridgeServer* server) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return fail(Errc::not_found, fmt::format("there is no model file '{}'", path));
  pytorch::ImportRequest request;
  request.file = path;
  request.environment = environment.whole;
  request.target = target;
  ModelTask read;
  KERF_TRY(read.model,
           server != nullptr ? pytorch::import_model(request, *server) : pytorch::import_model(request, sandbox));
  read.text.source = read.model.task;
  read.text.model = read.model.record;
  read.text.origin = std::filesystem::absolute(path, error).string();
  auto task = parse_task(read.text.source, std::filesystem::path(), path + " (as a task)");
  if (!task) {
    task.error().message += "; 'kerf check " + path + " --print-task' shows the task where it can be read";
    return tl::unexpected<Error>(std::move(task).error());
  }
  read.text.task = *std::move(task);
  return read;
}

}  // namespace

Result<ModelTask> read_model_task(const std::string& path, const Environment& environment, const std::string& target) {
  return read_over(path, environment, target, *make_sandbox(), nullptr);
}

Result<std::unique_ptr<ModelReader>> ModelReader::make(const std::vector<std::string>& paths,
                                                       const Environment& environment) {
  std::unique_ptr<ModelReader> reader(new ModelReader(environment));
  reader->sandbox_ = make_sandbox();
  if (std::count_if(paths.begin(), paths.end(), pytorch::is_model_file) > 1) {
    KERF_TRY(reader->server_, pytorch::BridgeServer::start(environment.whole, *reader->sandbox_));
  }
  return reader;
}

Result<ModelTask> ModelReader::read(const std::string& path, const std::string& target) {
  return read_over(path, environment_, target, *sandbox_, server_.get());
}

std::string import_text(const pytorch::ImportedModel& model, const Style& style) {
  std::string text = fmt::format("imported with PyTorch {} ({}), {} mode\n", one_line(model.torch),
                                 one_line(model.python), model.training ? "training" : "evaluation");
  if (!model.missing.empty()) {
    std::vector<std::string> names;
    for (const auto& one : model.missing) names.push_back(missing_words(one));
    text += paint(fmt::format("a part of the model is the task, about {:.0f} % of its arithmetic; the rest stays with "
                              "PyTorch, because of: {}\n",
                              100 * model.share, join(names, ", ")),
                  Colour::yellow, style);
  }
  if (!model.dropped.empty())
    text += fmt::format("left out, because the norm behind them takes them away: {}\n", join(model.dropped, ", "));
  for (std::size_t i = 0; i < model.notes.size() && i < kNotes; ++i)
    text += paint("note: " + one_line(model.notes[i]), Colour::dim, style) + "\n";
  if (model.notes.size() > kNotes)
    text += paint(fmt::format("note: and {} more (--json has all)", model.notes.size() - kNotes), Colour::dim, style) +
            "\n";
  return text;
}

}  // namespace kerf::cli
