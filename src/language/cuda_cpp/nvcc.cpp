#include "language/cuda_cpp/nvcc.hpp"

#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "language/cuda_cpp/nvrtc_protocol.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

/// Removed with everything in it.
struct TemporaryFolder {
  fs::path path;
  explicit TemporaryFolder(fs::path made) : path(std::move(made)) {}
  TemporaryFolder(TemporaryFolder&& other) noexcept : path(std::exchange(other.path, {})) {}
  ~TemporaryFolder() {
    std::error_code error;
    if (!path.empty()) fs::remove_all(path, error);
  }
};

Result<TemporaryFolder> make_folder() {
  std::string name = (fs::temp_directory_path() / "kerf-nvcc-XXXXXX").string();
  if (!::mkdtemp(name.data())) return fail(Errc::io, fmt::format("cannot make a temporary folder like {}", name));
  return TemporaryFolder{name};
}

}  // namespace

NvccCompiler::NvccCompiler(fs::path nvcc, Sandbox& sandbox, std::int64_t memory_bytes)
    : nvcc_(std::move(nvcc)), sandbox_(sandbox), memory_bytes_(memory_bytes) {}

SandboxCommand NvccCompiler::command(const fs::path& folder) const {
  SandboxCommand command;
  std::error_code error;
  const fs::path real = fs::canonical(nvcc_, error);
  command.argv = {nvcc_.string()};
  command.environment = {{"PATH", nvcc_.parent_path().string() + ":/usr/local/bin:/usr/bin:/bin"},
                         {"TMPDIR", folder.string()}};
  command.folder = folder;
  command.readable = {nvcc_.parent_path().parent_path(), real.parent_path().parent_path()};
  command.writable = {folder};
  command.limits.memory_bytes = memory_bytes_;
  return command;
}

Result<std::string> NvccCompiler::version() const {
  KERF_TRY(const TemporaryFolder folder, make_folder());
  auto run = command(folder.path);
  run.argv.push_back("--version");
  KERF_TRY(const auto outcome, sandbox_.run(run));
  const auto at = outcome.out.find("release ");
  if (outcome.signal != 0 || outcome.exit_code != 0 || at == std::string::npos) {
    return fail(Errc::tool_failed, fmt::format("{} --version failed: {}", nvcc_.string(), trim(outcome.err)));
  }
  return outcome.out.substr(at, outcome.out.find('\n', at) - at);
}

Result<NvrtcOutcome> NvccCompiler::compile(const std::string& source, const std::string& arch,
                                           std::chrono::milliseconds limit) const {
  KERF_TRY(const TemporaryFolder folder, make_folder());
  KERF_TRY_VOID(write_file_atomic(folder.path / nvrtc::kSourceName, source));
  auto run = command(folder.path);
  const std::string number = arch.starts_with("sm_") ? arch.substr(3) : arch;
  for (const auto& argument : {std::string("-cubin"), std::string("-std=c++17"), std::string("--keep"),
                               fmt::format("-gencode=arch=compute_{0},code=sm_{0}", number), std::string("-o"),
                               std::string("candidate.cubin"), std::string(nvrtc::kSourceName)}) {
    run.argv.push_back(argument);
  }
  run.limits.wall = limit;
  KERF_TRY(const auto outcome, sandbox_.run(run));
  if (outcome.timed_out) {
    return NvrtcLost{fmt::format("nvcc did not finish within {} ms and was stopped", limit.count())};
  }
  if (outcome.signal != 0) return NvrtcLost{fmt::format("nvcc crashed on this source (signal {})", outcome.signal)};
  if (outcome.exit_code != 0) {
    const bool bad_option = outcome.err.find("nvcc fatal") != std::string::npos;
    return NvrtcRefused{outcome.err + outcome.out, bad_option};
  }
  KERF_TRY(std::string cubin, read_file(folder.path / "candidate.cubin"));
  NvrtcCompiled compiled{std::move(cubin), {}, outcome.err};
  if (auto ptx = read_file(folder.path / "candidate.ptx")) compiled.ptx = *std::move(ptx);
  return compiled;
}

}  // namespace kerf
