#include "language/cpp/compiler.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

namespace kerf::cpp {
namespace {

namespace fs = std::filesystem;

// What kernels are written with; in a precompiled header, because headers cost more than the kernel itself.
constexpr std::string_view kHeader = R"(#include <algorithm>
#include <array>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>
#include <omp.h>
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif
)";

// Exact arithmetic (no -ffast-math); errno and floating-point traps are nobody's business in a kernel.
const std::vector<std::string> kFlags = {"-std=gnu++20",
                                         "-O3",
                                         "-fopenmp",
                                         "-fPIC",
                                         "-fno-math-errno",
                                         "-fno-trapping-math",
                                         "-ffp-contract=fast",
                                         "-fno-semantic-interposition",
                                         "-fno-stack-protector",
                                         "-w",
                                         "-fdiagnostics-color=never"};

std::vector<std::string> compiler_names() {
  std::vector<std::string> names = {"g++"};
  for (int version = 17; version >= 10; --version) names.push_back(fmt::format("g++-{}", version));
  names.emplace_back("clang++");
  for (int version = 23; version >= 14; --version) names.push_back(fmt::format("clang++-{}", version));
  return names;
}

std::vector<fs::path> find_candidates(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> names = compiler_names();
  if (const auto own = environment.find("CXX"); own != environment.end() && !own->second.empty())
    names.insert(names.begin(), own->second);
  const auto search = environment.find("PATH");
  const auto folders = split(search != environment.end() ? search->second : "/usr/local/bin:/usr/bin:/bin", ':');
  std::vector<fs::path> found;
  for (const auto& name : names) {
    for (const auto& folder : folders) {
      const fs::path path = name.find('/') != std::string::npos ? fs::path(name) : fs::path(folder) / name;
      if (!path.is_absolute() || ::access(path.c_str(), X_OK) != 0) continue;
      found.push_back(path);
      break;
    }
  }
  return found;
}

Result<std::string> ask(const Compiler& compiler, Sandbox& sandbox, std::vector<std::string> arguments) {
  KERF_TRY(const auto folder, ScratchFolder::make());
  const auto command = compiler_command(compiler, folder.path(), std::move(arguments), std::chrono::seconds(20));
  KERF_TRY(const auto outcome, sandbox.run(command));
  if (outcome.exit_code != 0 || outcome.signal != 0)
    return fail(Errc::tool_failed, fmt::format("{}: {}", compiler.path.string(), trim(outcome.err)));
  return std::string(trim(outcome.out));
}

// Toolchains outside the system's folders (/opt/...) must be readable as a whole.
void allow_prefix(Compiler& compiler) {
  std::error_code failed;
  for (const auto& path : {compiler.path, fs::canonical(compiler.path, failed)}) {
    const fs::path prefix = path.parent_path().parent_path();
    if (!prefix.empty() && prefix != "/" && prefix != "/usr") compiler.readable.push_back(prefix);
  }
}

// Builds the precompiled header in `folder`.
Status build_header(const Compiler& compiler, const CppLanguageOptions& options, const fs::path& folder,
                    const std::string& output) {
  KERF_TRY_VOID(write_file_atomic(folder / "kerf.hpp", kHeader));
  std::vector<std::string> arguments = compiler.flags;
  arguments.push_back(arch_flag(""));
  arguments.insert(arguments.end(), {"-x", "c++-header", "kerf.hpp", "-o", output});
  const auto command = compiler_command(compiler, folder, arguments, std::chrono::seconds(60));
  KERF_TRY(const auto outcome, options.sandbox->run(command));
  if (outcome.exit_code != 0 || outcome.signal != 0) {
    return fail(Errc::tool_failed, fmt::format("{} cannot compile the kernels' header (is its OpenMP installed?): {}",
                                               compiler.path.string(), trim(outcome.err).substr(0, 500)));
  }
  return {};
}

// Copies the header to its place in the cache, moved there whole, so that two judges may start at once. False when the
// cache cannot be written.
bool keep_header(const fs::path& folder, const fs::path& place, const std::string& output) {
  std::error_code failed;
  const fs::path next = place.string() + fmt::format(".{}", ::getpid());
  fs::create_directories(next, failed);
  for (const char* name : {"kerf.hpp", output.c_str()}) {
    fs::copy_file(folder / name, next / name, fs::copy_options::overwrite_existing, failed);
    if (!failed) continue;
    fs::remove_all(next, failed);
    return false;
  }
  fs::rename(next, place, failed);
  std::error_code ignored;
  if (failed) fs::remove_all(next, ignored);  // somebody else was first
  return fs::exists(place / output, ignored);
}

// Where the precompiled header lies: in the cache, or in a folder of the compiler's own when the cache cannot be
// written (then every start builds it anew).
Result<fs::path> place_header(Compiler& compiler, const CppLanguageOptions& options, const std::string& key,
                              const std::string& output) {
  std::error_code ignored;
  const fs::path place = fs::absolute(options.cache / "cpp" / ("header-" + key), ignored);
  if (fs::exists(place / output, ignored)) return place;
  KERF_TRY(auto folder, ScratchFolder::make());
  KERF_TRY_VOID(build_header(compiler, options, folder.path(), output));
  if (keep_header(folder.path(), place, output)) return place;
  compiler.own_folder = std::make_shared<const ScratchFolder>(std::move(folder));
  return compiler.own_folder->path();
}

Result<Compiler> try_compiler(const fs::path& path, const CppLanguageOptions& options) {
  Compiler compiler;
  compiler.path = path;
  compiler.flags = kFlags;
  allow_prefix(compiler);
  KERF_TRY(const std::string words, ask(compiler, *options.sandbox, {"--version"}));
  compiler.clang = words.find("clang") != std::string::npos;
  KERF_TRY(const std::string number,
           ask(compiler, *options.sandbox, {compiler.clang ? "-dumpversion" : "-dumpfullversion"}));
  compiler.version = fmt::format("{} {}", compiler.clang ? "clang++" : "g++", number);
  compiler.flags.emplace_back(compiler.clang ? "-ferror-limit=10" : "-fmax-errors=10");

  // The machine's processor is part of -march=native, so it is part of the key.
  const auto cpu = read_file("/proc/cpuinfo").value_or("");
  const auto flags_at = cpu.find("\nflags");
  const std::string cpu_flags =
      flags_at == std::string::npos ? "" : cpu.substr(flags_at, cpu.find('\n', flags_at + 1) - flags_at);
  const std::string key =
      sha256_hex(words + join(compiler.flags, " ") + std::string(kHeader) + cpu_flags).substr(0, 20);
  const std::string output = compiler.clang ? "kerf.hpp.pch" : "kerf.hpp.gch";
  KERF_TRY(const fs::path place, place_header(compiler, options, key, output));
  compiler.readable.push_back(place);
  if (compiler.clang) {
    compiler.header_flags = {"-include-pch", (place / output).string()};
  } else {
    compiler.header_flags = {"-include", (place / "kerf.hpp").string()};
  }
  return compiler;
}

}  // namespace

const std::vector<std::string>& kernel_flags() { return kFlags; }

std::string_view kernel_includes() { return kHeader; }

Result<Compiler> find_compiler(const CppLanguageOptions& options) {
  std::string reasons;
  for (const auto& path : find_candidates(options.environment)) {
    auto compiler = try_compiler(path, options);
    if (compiler) return compiler;
    reasons += "\n  " + compiler.error().message;
  }
  if (!reasons.empty())
    return fail(Errc::unavailable,
                "the C++ compilers on PATH cannot be used; install one with OpenMP (Debian: apt-get install g++) or "
                "remove the cause:" +
                    reasons);
  return fail(Errc::unavailable, "no C++ compiler found on PATH; install one (Debian: apt-get install g++)");
}

std::string arch_flag(const std::string& arch) {
#if defined(__x86_64__) || defined(__i386__)
  const std::string option = "-march=";
#else
  const std::string option = "-mcpu=";
#endif
  const bool native = arch.empty() || arch.find("native") != std::string::npos;
  return option + (native ? "native" : arch);
}

SandboxCommand compiler_command(const Compiler& compiler, const fs::path& folder, std::vector<std::string> arguments,
                                std::chrono::milliseconds limit) {
  SandboxCommand command;
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), compiler.path.string());
  command.environment = {{"PATH", compiler.path.parent_path().string() + ":/usr/local/bin:/usr/bin:/bin"},
                         {"LC_ALL", "C"},
                         {"TMPDIR", folder.string()}};
  command.folder = folder;
  command.readable = compiler.readable;
  command.writable = {folder};
  command.limits.memory_bytes = 4LL << 30;
  command.limits.processes = 32;
  command.limits.wall = limit;
  return command;
}

Result<ScratchFolder> ScratchFolder::make() {
  for (const char* base : {"/dev/shm", "/tmp", "/var/tmp"}) {
    std::string name = std::string(base) + "/kerf-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) return ScratchFolder(name);
  }
  return fail(Errc::io, fmt::format("no temporary folder can be made: {}", std::strerror(errno)));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace kerf::cpp
