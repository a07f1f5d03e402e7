#include "pytorch/import_model.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "ir/expression/expression.hpp"
#include "pytorch/bridge.hpp"
#include "pytorch/bridge_server.hpp"
#include "pytorch/small_shape.hpp"

namespace kerf::pytorch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<std::int64_t>() : 0;
}

std::vector<std::string> texts_at(const Json& json, const char* key) {
  std::vector<std::string> texts;
  if (const auto found = json.find(key); found != json.end() && found->is_array())
    for (const Json& one : *found)
      if (one.is_string()) texts.push_back(printable(one.get<std::string>()));
  return texts;
}

/// "model.py:12: forward raised: ...", then the user's lines that led there.
Error problem_of(const Json& answer, const fs::path& file) {
  const std::int64_t line = number_at(answer, "line");
  std::string message = line > 0 ? fmt::format("{}:{}: ", file.string(), line) : fmt::format("{}: ", file.string());
  message += printable(text_at(answer, "message"));
  if (const auto frames = answer.find("frames"); frames != answer.end() && frames->is_array())
    for (const Json& frame : *frames) {
      if (!frame.is_array() || frame.size() != 4 || !frame[0].is_string() || !frame[1].is_number() ||
          !frame[3].is_string())
        continue;
      message += fmt::format("\n  {}:{}: {}", fs::path(frame[0].get<std::string>()).filename().string(),
                             frame[1].get<std::int64_t>(), printable(frame[3].get<std::string>()));
    }
  return {Errc::invalid_input, std::move(message)};
}

Result<ImportedModel> model_of(const Json& answer, const fs::path& file, const std::string& python) {
  ImportedModel model;
  model.task = text_at(answer, "task");
  model.name = text_at(answer, "name");
  model.torch = text_at(answer, "torch");
  model.python = python;
  model.dropped = texts_at(answer, "dropped");
  model.notes = texts_at(answer, "notes");
  if (const auto training = answer.find("training"); training != answer.end() && training->is_boolean())
    model.training = training->get<bool>();
  if (const auto share = answer.find("share"); share != answer.end() && share->is_number())
    model.share = share->get<double>();
  if (const auto missing = answer.find("uncovered"); missing != answer.end() && missing->is_array())
    for (const Json& one : *missing)
      if (one.is_object())
        model.missing.push_back({printable(text_at(one, "operator")), printable(text_at(one, "module")),
                                 static_cast<int>(number_at(one, "line")), static_cast<int>(number_at(one, "count"))});
  if (const auto record = answer.find("model"); record != answer.end() && record->is_object())
    model.record = record->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (model.task.empty()) return fail(Errc::tool_failed, fmt::format("{}: the import gave no task", file.string()));
  model.task = with_small_shape(model.task, file.filename().string());
  return model;
}

/// The last lines of what a process said.
std::string tail(const std::string& text) {
  constexpr std::size_t kKept = 400;
  const std::string clean = printable(std::string(trim(text)));
  return clean.size() <= kKept ? clean : "..." + clean.substr(clean.size() - kKept);
}

/// What is known when a process ended without an answer.
Error without_answer(const ImportRequest& request, const ProcessOutcome& outcome) {
  const std::string file = request.file.string();
  if (outcome.timed_out)
    return {Errc::invalid_input,
            fmt::format("{}: importing it took more than {} s and was ended; the file, Model or forward may wait for "
                        "something or loop",
                        file, std::chrono::duration_cast<std::chrono::seconds>(request.time_limit).count())};
  const std::string how = outcome.signal != 0 ? fmt::format("was ended by signal {}", outcome.signal)
                                              : fmt::format("ended with exit code {}", outcome.exit_code);
  const std::string said = tail(outcome.err);
  return {Errc::invalid_input,
          fmt::format("{}: Python {} while importing it; it may need more memory than its limit allows{}", file, how,
                      said.empty() ? "" : ": " + said)};
}

Result<ImportedModel> import_over(Bridge& bridge, const ImportRequest& request) {
  Json asked{{"file", fs::absolute(request.file).string()},
             {"target", request.target},
             {"special_values", request.special_values},
             {"functions", Json::array()}};
  for (const auto& function : ir::expression_functions()) asked["functions"].push_back(function.name);
  BridgeQuestion question;
  question.request = asked.dump(-1, ' ', false, Json::error_handler_t::replace);
  question.time_limit = request.time_limit;
  question.memory_bytes = request.memory_bytes > 0 ? request.memory_bytes : machine_memory();
  auto given = bridge.ask(question);
  if (!given) {
    given.error().message = request.file.string() + ": " + given.error().message;
    return tl::unexpected<Error>(std::move(given).error());
  }
  const Json answer = Json::parse(given->text, nullptr, false);
  if (!answer.is_object()) return tl::unexpected<Error>(without_answer(request, given->outcome));
  if (const auto ok = answer.find("ok"); ok == answer.end() || *ok != true)
    return tl::unexpected<Error>(problem_of(answer, request.file));
  return model_of(answer, request.file, given->python);
}

}  // namespace

bool is_model_file(std::string_view path) { return path.ends_with(".py"); }

Result<ImportedModel> import_model(const ImportRequest& request, Sandbox& sandbox) {
  return import_over(*make_bridge(request.environment, sandbox), request);
}

Result<ImportedModel> import_model(const ImportRequest& request, BridgeServer& server) {
  return import_over(server, request);
}

}  // namespace kerf::pytorch
