#include "pytorch/import_model.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "base/file.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "ir/expression/expression.hpp"

namespace kerf::pytorch {

/// Generated: the files below python/.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kInstall =
    "install PyTorch for it (pip install torch, or apt install python3-torch) or name a Python that has it with "
    "--python PATH";
// The folder of the bridge goes first, and nothing of it is seen as a module of its own.
constexpr const char* kStart =
    "import sys; sys.path.insert(0, sys.argv[1]); from kerf_bridge.__main__ import main; sys.exit(main(sys.argv[2:]))";

/// A folder that is removed with what is in it.
class Folder {
 public:
  Folder() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "kerf-import-XXXXXX").string();
    if (const char* made = ::mkdtemp(pattern.data())) path_ = made;
  }
  ~Folder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string value_of(const std::map<std::string, std::string>& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// The absolute path of a program as a shell would find it; "" when there is none.
std::string find_program(const std::string& name, const std::map<std::string, std::string>& environment) {
  std::error_code error;
  if (name.find('/') != std::string::npos) return is_program(name) ? fs::absolute(name, error).string() : "";
  const std::string folders = value_of(environment, "PATH");
  for (std::size_t at = 0; at < folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path program = fs::path(folders.substr(at, end - at)) / name;
    if (end > at && is_program(program)) return fs::absolute(program, error).string();
    at = end + 1;
  }
  return "";
}

Status write_bridge(const fs::path& folder) {
  for (const auto& [path, text] : embedded_files()) KERF_TRY_VOID(write_file_atomic(folder / path, text));
  return {};
}

std::int64_t machine_memory() {
  return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
}

SandboxCommand command_of(const ImportRequest& request, const std::string& python, const fs::path& folder) {
  SandboxCommand command;
  command.argv = {python,
                  "-B",
                  "-c",
                  kStart,
                  folder.string(),
                  (folder / "request.json").string(),
                  (folder / "answer.json").string()};
  command.environment = request.environment;
  std::error_code error;
  command.folder = fs::current_path(error);
  if (error) command.folder = "/";
  // The user's own program on the user's own machine: it may read files and use the network, as it does without us.
  command.network = true;
  command.restrict_files = false;
  command.limits.memory_bytes = request.memory_bytes > 0 ? request.memory_bytes : machine_memory();
  command.limits.file_bytes = std::int64_t{16} << 30;
  command.limits.stack_bytes = 0;
  command.limits.processes = 4096;
  command.limits.wall = request.time_limit;
  return command;
}

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
          fmt::format("{}: Python {} while importing it; it may need more memory than it may use{}", file, how,
                      said.empty() ? "" : ": " + said)};
}

/// The answer of one Python; nothing when it has no PyTorch.
Result<std::optional<ImportedModel>> ask(const ImportRequest& request, const std::string& python,
                                         const fs::path& folder, Sandbox& sandbox, std::string& reason) {
  std::error_code error;
  fs::remove(folder / "answer.json", error);
  KERF_TRY(const ProcessOutcome outcome, sandbox.run(command_of(request, python, folder)));
  const auto text = read_file(folder / "answer.json");
  const Json answer = text ? Json::parse(*text, nullptr, false) : Json();
  if (!answer.is_object()) return tl::unexpected<Error>(without_answer(request, outcome));
  if (text_at(answer, "kind") == "no_torch") {
    reason = printable(text_at(answer, "message"));
    return std::optional<ImportedModel>();
  }
  if (const auto ok = answer.find("ok"); ok == answer.end() || *ok != true)
    return tl::unexpected<Error>(problem_of(answer, request.file));
  KERF_TRY(ImportedModel model, model_of(answer, request.file, python));
  return std::optional<ImportedModel>(std::move(model));
}

}  // namespace

bool is_model_file(std::string_view path) { return path.ends_with(".py"); }

std::vector<std::string> python_programs(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> programs;
  if (const std::string chosen = value_of(environment, "KERF_PYTHON"); !chosen.empty()) {
    const std::string found = find_program(chosen, environment);
    if (!found.empty()) programs.push_back(found);
    return programs;
  }
  for (const char* name : {"python3", "/usr/bin/python3"}) {
    const std::string found = find_program(name, environment);
    if (!found.empty() && std::find(programs.begin(), programs.end(), found) == programs.end())
      programs.push_back(found);
  }
  return programs;
}

Result<ImportedModel> import_model(const ImportRequest& request, Sandbox& sandbox) {
  const Folder folder;
  if (folder.path().empty()) return fail(Errc::io, "cannot make a temporary folder");
  KERF_TRY_VOID(write_bridge(folder.path()));
  Json asked{{"file", fs::absolute(request.file).string()},
             {"target", request.target},
             {"special_values", request.special_values},
             {"functions", Json::array()}};
  for (const auto& function : ir::expression_functions()) asked["functions"].push_back(function.name);
  KERF_TRY_VOID(
      write_file_atomic(folder.path() / "request.json", asked.dump(-1, ' ', false, Json::error_handler_t::replace)));
  const auto programs = python_programs(request.environment);
  std::vector<std::string> tried;
  for (const std::string& python : programs) {
    std::string reason;
    KERF_TRY(auto model, ask(request, python, folder.path(), sandbox, reason));
    if (model) return *std::move(model);
    tried.push_back(fmt::format("{} ({})", python, reason));
  }
  const std::string chosen = value_of(request.environment, "KERF_PYTHON");
  if (tried.empty())
    return fail(chosen.empty() ? Errc::unavailable : Errc::invalid_input,
                chosen.empty()
                    ? fmt::format("{}: a model file needs Python with PyTorch, and there is no python3; {}",
                                  request.file.string(), kInstall)
                    : fmt::format("{}: '{}' is no program that can be run; give the path of a Python that has "
                                  "PyTorch with --python PATH (or KERF_PYTHON)",
                                  request.file.string(), chosen));
  return fail(Errc::unavailable, fmt::format("{}: a model file needs Python with PyTorch; tried {}; {}",
                                             request.file.string(), join(tried, ", "), kInstall));
}

}  // namespace kerf::pytorch
