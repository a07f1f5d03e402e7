#include "pytorch/bridge.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/file.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

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

std::string variable_of(const std::map<std::string, std::string>& environment, const std::string& name) {
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
  const std::string folders = variable_of(environment, "PATH");
  for (std::size_t at = 0; at < folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path program = fs::path(folders.substr(at, end - at)) / name;
    if (end > at && is_program(program)) return fs::absolute(program, error).string();
    at = end + 1;
  }
  return "";
}

/// Why a Python cannot be used; "" for every other answer.
std::string reason_against(const std::string& answer) {
  const Json json = Json::parse(answer, nullptr, false);
  if (!json.is_object() || json.value("kind", "") != "no_torch") return "";
  return printable(json.value("message", "it has no PyTorch"));
}

class OneShotBridge final : public Bridge {
 public:
  OneShotBridge(std::map<std::string, std::string> environment, Sandbox& sandbox)
      : environment_(std::move(environment)), sandbox_(sandbox) {}

  Result<BridgeAnswer> ask(const BridgeQuestion& question) override {
    KERF_TRY(const auto folder, BridgeFolder::make());
    const fs::path request = folder->path() / "request.json", answer = folder->path() / "answer.json";
    KERF_TRY_VOID(write_file_atomic(request, question.request));
    std::vector<std::string> tried;
    for (const std::string& python : python_programs(environment_)) {
      std::error_code error;
      fs::remove(answer, error);
      SandboxCommand command = folder->command(python, {request.string(), answer.string()}, environment_);
      command.limits.wall = question.time_limit;
      command.limits.memory_bytes = question.memory_bytes;
      BridgeAnswer given;
      KERF_TRY(given.outcome, sandbox_.run(command));
      if (const auto text = read_file(answer)) given.text = *text;
      const std::string reason = reason_against(given.text);
      given.python = python;
      if (reason.empty()) return given;
      tried.push_back(fmt::format("{} ({})", python, reason));
    }
    return tl::unexpected<Error>(no_python(environment_, tried));
  }

 private:
  std::map<std::string, std::string> environment_;
  Sandbox& sandbox_;
};

}  // namespace

std::unique_ptr<Bridge> make_bridge(std::map<std::string, std::string> environment, Sandbox& sandbox) {
  return std::make_unique<OneShotBridge>(std::move(environment), sandbox);
}

std::vector<std::string> python_programs(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> programs;
  if (const std::string chosen = variable_of(environment, "KERF_PYTHON"); !chosen.empty()) {
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

Error no_python(const std::map<std::string, std::string>& environment, const std::vector<std::string>& tried) {
  if (!tried.empty())
    return {Errc::unavailable,
            fmt::format("a model file needs Python with PyTorch; tried {}; {}", join(tried, ", "), kInstall)};
  const std::string chosen = variable_of(environment, "KERF_PYTHON");
  if (chosen.empty())
    return {Errc::unavailable,
            fmt::format("a model file needs Python with PyTorch, and there is no python3; {}", kInstall)};
  return {Errc::invalid_input, fmt::format("'{}' is no program that can be run; give the path of a Python that has "
                                           "PyTorch with --python PATH (or KERF_PYTHON)",
                                           chosen)};
}

std::int64_t machine_memory() {
  return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
}

Result<std::unique_ptr<BridgeFolder>> BridgeFolder::make() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "kerf-import-XXXXXX").string();
  const char* made = ::mkdtemp(pattern.data());
  if (made == nullptr) return fail(Errc::io, "cannot make a temporary folder");
  std::unique_ptr<BridgeFolder> folder(new BridgeFolder(made));
  for (const auto& [path, text] : embedded_files()) KERF_TRY_VOID(write_file_atomic(folder->path() / path, text));
  return folder;
}

BridgeFolder::~BridgeFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

SandboxCommand BridgeFolder::command(const std::string& python, const std::vector<std::string>& arguments,
                                     const std::map<std::string, std::string>& environment) const {
  SandboxCommand command;
  command.argv = {python, "-B", "-c", kStart, path_.string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = environment;
  std::error_code error;
  command.folder = fs::current_path(error);
  if (error) command.folder = "/";
  command.network = true;
  command.restrict_files = false;
  command.limits.memory_bytes = 0;
  command.limits.file_bytes = std::int64_t{16} << 30;
  command.limits.stack_bytes = 0;
  command.limits.processes = 4096;
  command.limits.wall = std::chrono::milliseconds(0);
  return command;
}

}  // namespace kerf::pytorch
