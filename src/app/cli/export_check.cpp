#include "app/cli/export_check.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kerf::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::milliseconds kBuildLimit{300'000};
constexpr std::chrono::milliseconds kRunLimit{300'000};
constexpr std::int64_t kUsualStack = 8 << 20;

/// A folder that is removed with what is in it.
class CheckFolder {
 public:
  CheckFolder() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "kerf-check-XXXXXX").string();
    if (const char* made = ::mkdtemp(pattern.data())) path_ = made;
  }
  ~CheckFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  CheckFolder(const CheckFolder&) = delete;
  CheckFolder& operator=(const CheckFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The first of the compilers in the folders of `path`; empty when there is none.
fs::path find_program(const std::vector<std::string>& names, const std::string& path) {
  for (const auto& name : names)
    for (const auto& folder : split(path, ':'))
      if (!folder.empty() && ::access((fs::path(folder) / name).c_str(), X_OK) == 0) return fs::path(folder) / name;
  return {};
}

/// What is compiled: the files themselves, the check program, and the implementation of a single header.
Result<std::vector<exporting::File>> check_sources(const exporting::Exporter& exporter, const exporting::Winner& winner,
                                                   exporting::Format format, const std::vector<exporting::File>& files,
                                                   const std::string& extension) {
  std::vector<exporting::File> all = files;
  if (format != exporting::Format::cmake) {
    KERF_TRY(auto check, exporter.check_program(winner, files));
    all.insert(all.end(), std::make_move_iterator(check.begin()), std::make_move_iterator(check.end()));
  }
  if (format == exporting::Format::c_header) {
    const std::string name = exporting::function_name(winner);
    std::string macro = name;
    for (char& c : macro) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    all.push_back({name + "_implementation" + extension,
                   fmt::format("#define {}_IMPLEMENTATION\n#include \"{}\"\n", macro, files.front().path)});
  }
  return all;
}

SandboxCommand command_in(const fs::path& folder, const std::string& path) {
  SandboxCommand command;
  command.folder = folder;
  command.environment = {{"PATH", path},
                         {"TMPDIR", folder.string()},
                         {"HOME", folder.string()},
                         {"POCL_CACHE_DIR", (folder / "pocl").string()}};
  command.writable = {folder};
  command.limits.processes = 512;
  return command;
}

std::string how_it_ended(const ProcessOutcome& outcome) {
  if (outcome.timed_out) return fmt::format("it took longer than {} s", kRunLimit.count() / 1000);
  if (outcome.signal != 0) return fmt::format("it was ended by a signal: {}", ::strsignal(outcome.signal));
  return fmt::format("exit code {}", outcome.exit_code);
}

/// As compilers name it; empty for every other language, which they know by the extension.
std::string c_language(const std::string& extension) {
  return extension == ".c" ? "c" : extension == ".cpp" ? "c++" : "";
}

Status build_check(const fs::path& compiler, const exporting::CheckBuild& how,
                   const std::vector<exporting::File>& files, SandboxCommand command, Sandbox& sandbox) {
  command.argv = {compiler.string()};
  command.argv.insert(command.argv.end(), how.flags.begin(), how.flags.end());
  const bool compiles_c = !c_language(how.source_extension).empty();
  for (const auto& file : files) {
    const std::string extension = fs::path(file.path).extension().string();
    const std::string language = c_language(extension);
    if (language.empty() && extension != how.source_extension) continue;
    if (!language.empty()) command.argv.insert(command.argv.end(), {"-x", language});
    command.argv.push_back(file.path);
  }
  if (compiles_c) command.argv.insert(command.argv.end(), {"-x", "none"});
  command.argv.insert(command.argv.end(), {"-o", "check_export"});
  command.argv.insert(command.argv.end(), how.libraries.begin(), how.libraries.end());
  std::error_code error;
  const fs::path real = fs::canonical(compiler, error);
  for (const fs::path& prefix : {compiler.parent_path().parent_path(), real.parent_path().parent_path()})
    if (!prefix.empty() && prefix != "/" && prefix != "/usr") command.readable.push_back(prefix);
  command.limits.wall = kBuildLimit;
  command.restrict_files = !how.uses_devices;  // the compiler asks the device for its architecture
  KERF_TRY(const ProcessOutcome outcome, sandbox.run(command));
  if (!outcome.timed_out && outcome.signal == 0 && outcome.exit_code == 0) return {};
  return fail(Errc::tool_failed,
              fmt::format("the exported files do not compile with {} ({}); --no-check writes them all the same:\n{}",
                          compiler.string(), how_it_ended(outcome), outcome.err.substr(0, 4000)));
}

/// The program once more under the vendor's tools for races and wrong barriers, where they are installed; what came of
/// it as words to add.
Result<std::string> look_for_races(SandboxCommand command, const std::string& path, Sandbox& sandbox) {
  const fs::path tool = find_program({"compute-sanitizer"}, path);
  if (tool.empty()) return std::string("; compute-sanitizer is not installed, so races were not looked for");
  constexpr int kFound = 86;
  const std::string program = command.argv.front();
  for (const char* kind : {"racecheck", "synccheck"}) {
    command.argv = {tool.string(), "--tool", kind, "--error-exitcode", std::to_string(kFound), program};
    KERF_TRY(const ProcessOutcome outcome, sandbox.run(command));
    if (outcome.exit_code == kFound && outcome.signal == 0 && !outcome.timed_out)
      return fail(Errc::invalid_input, fmt::format("compute-sanitizer ({}) finds fault with the kernel; nothing was "
                                                   "written:\n{}",
                                                   kind, outcome.out.substr(0, 4000)));
    if (outcome.exit_code != 0 || outcome.signal != 0 || outcome.timed_out)
      return fmt::format("; {} of compute-sanitizer did not run ({})", kind, how_it_ended(outcome));
  }
  return std::string("; racecheck and synccheck of compute-sanitizer find nothing");
}

}  // namespace

Result<CheckedExport> run_export_check(const exporting::Exporter& exporter, const exporting::Winner& winner,
                                       exporting::Format format, const std::vector<exporting::File>& files,
                                       const std::string& path, Sandbox& sandbox) {
  const exporting::CheckBuild how = exporter.check_build(winner);
  const fs::path compiler = find_program(how.compilers, path);
  if (compiler.empty()) return CheckedExport{false, fmt::format("{} is not installed", join(how.compilers, " or "))};
  KERF_TRY(const auto sources, check_sources(exporter, winner, format, files, how.source_extension));
  const CheckFolder folder;
  if (folder.path().empty()) return fail(Errc::io, "cannot make a temporary folder for the check program");
  for (const auto& file : sources) KERF_TRY_VOID(write_file_atomic(folder.path() / file.path, file.text));
  SandboxCommand command = command_in(folder.path(), path);
  KERF_TRY_VOID(build_check(compiler, how, sources, command, sandbox));
  command.argv = {(folder.path() / "check_export").string()};
  for (const auto& place : how.readable) command.readable.emplace_back(place);
  command.restrict_files = !how.uses_devices;
  command.limits.stack_bytes = kUsualStack;
  command.limits.wall = kRunLimit;
  KERF_TRY(const ProcessOutcome outcome, sandbox.run(command));
  if (outcome.timed_out)
    return fail(Errc::timeout, fmt::format("the check program of the export did not end within {} s; nothing was "
                                           "written. --no-check leaves it out",
                                           kRunLimit.count() / 1000));
  if (outcome.signal != 0 || outcome.exit_code != 0)
    return fail(Errc::invalid_input,
                fmt::format("the check program of the export fails ({}); nothing was written:\n{}{}",
                            how_it_ended(outcome), outcome.out.substr(0, 4000), outcome.err.substr(0, 2000)));
  const auto lines = split(outcome.out, '\n');
  const auto compared =
      std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("ok"); });
  std::string races;
  if (how.has_race_checker) {
    KERF_TRY(races, look_for_races(command, path, sandbox));
  }
  return CheckedExport{true,
                       fmt::format("check_{}, built with {} and run in the sandbox: {} comparisons, all right{}",
                                   exporting::function_name(winner), compiler.filename().string(), compared, races)};
}

}  // namespace kerf::cli
