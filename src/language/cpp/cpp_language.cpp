#include "language/cpp/cpp_language.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "base/source_rules.hpp"
#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "language/cpp/calibration.hpp"
#include "language/cpp/compiler.hpp"
#include "language/cpp/elf_facts.hpp"
#include "worker/pool.hpp"

namespace kerf {
namespace {

constexpr std::string_view kEntry = "kerf_kernel";
constexpr std::size_t kMaxLogBytes = 6000;

// The start-up files that are left out would define this handle; with it, code that wants to run at exit links, and its
// import is refused by name.
constexpr std::string_view kExitHandle =
    R"(__asm__(".pushsection .rodata\n.globl __dso_handle\n.hidden __dso_handle\n.balign 8\n__dso_handle: .quad 0\n.popsection");
)";

std::string constants_header(const Bindings& constants) {
  std::string text(kExitHandle);
  for (const auto& [name, value] : constants) {
    const bool fits = value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
    text += fmt::format("static constexpr {} {} = {}{};\n", fits ? "int" : "long long", name, value, fits ? "" : "LL");
  }
  return text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Compiler output without our folders and without the linker's bookkeeping, cut at a line.
std::string readable_log(std::string log, const std::filesystem::path& folder) {
  replace_all(log, folder.string() + "/", "");
  std::string kept;
  for (const auto& line : split(log, '\n')) {
    if (line.find("collect2: error") != std::string::npos || line.find("compilation terminated") != std::string::npos)
      continue;
    // "/usr/bin/ld: object: undefined reference": the object's temporary name says nothing.
    const auto object = line.find(".o: ");
    const auto linker = line.find("ld: ");
    kept += linker != std::string::npos && object != std::string::npos && linker < object
                ? "linker: " + line.substr(object + 4)
                : line;
    kept += '\n';
  }
  if (kept.size() > kMaxLogBytes) {
    kept.resize(kept.rfind('\n', kMaxLogBytes) + 1);
    kept += "[more of the same]\n";
  }
  return std::string(trim(kept)) + "\n";
}

class CppLanguage final : public Language {
 public:
  CppLanguage(Sandbox& sandbox, cpp::Compiler compiler, int jobs)
      : sandbox_(sandbox), compiler_(std::move(compiler)), slots_(jobs) {}

  std::string_view name() const override { return "cpp"; }
  std::string version() const override {
    return fmt::format("{} {} {}", compiler_.version, join(compiler_.flags, " "), cpp::arch_flag(""));
  }
  const codegen::DialectTraits& dialect() const override { return codegen::dialects::cpp; }
  std::vector<CalibrationKernel> calibration_kernels(const std::string&) const override {
    return cpp::calibration_kernels();
  }

  Result<CompileOutcome> compile(const CompileRequest& request) override {
    std::vector<std::string> entries = request.entry_points;
    if (entries.empty()) entries.emplace_back(kEntry);
    for (const auto& [name, value] : request.constants) {
      if (!is_identifier(name))
        return fail(Errc::invalid_input, fmt::format("'{}' cannot be the name of a constant", name));
    }
    KERF_TRY(const auto folder, cpp::ScratchFolder::make());
    KERF_TRY_VOID(write_inputs(folder.path(), request, entries));
    const auto command = cpp::compiler_command(compiler_, folder.path(), arguments(request.arch), request.time_limit);
    KERF_TRY(const ProcessOutcome outcome, run(command));
    if (outcome.timed_out)
      return CompileFailed{fmt::format("compiling took longer than {} ms\n", request.time_limit.count())};
    if (outcome.exit_code != 0 || outcome.signal != 0) {
      if (outcome.err.empty())
        return CompileFailed{fmt::format("the compiler ended with {} {}\n", outcome.signal != 0 ? "signal" : "status",
                                         outcome.signal != 0 ? outcome.signal : outcome.exit_code)};
      return CompileFailed{readable_log(outcome.err, folder.path())};
    }
    KERF_TRY(std::string bytes, read_file(folder.path() / "kernel.so"));
    KERF_TRY(CompileOutcome made, make_artifact(std::move(bytes), entries));
    if (auto* artifact = std::get_if<Artifact>(&made)) add_influences(*artifact, request);
    return made;
  }

 private:
  static void add_influences(Artifact& artifact, const CompileRequest& request) {
    SourceRules rules;
    for (const auto& [name, value] : request.constants) rules.known_names.push_back(name);
    for (auto& influence : outside_influences(request.source, rules))
      artifact.facts.forbidden_symbols.push_back(std::move(influence));
  }

  Result<ProcessOutcome> run(const SandboxCommand& command) {
    const auto slot = slots_.take();
    return sandbox_.run(command);
  }

  static Status write_inputs(const std::filesystem::path& folder, const CompileRequest& request,
                             const std::vector<std::string>& entries) {
    KERF_TRY_VOID(write_file_atomic(folder / "kernel.cpp", request.source));
    KERF_TRY_VOID(write_file_atomic(folder / "constants.hpp", constants_header(request.constants)));
    return write_file_atomic(folder / "exports", fmt::format("{{ global: {}; local: *; }};\n", join(entries, "; ")));
  }

  std::vector<std::string> arguments(const std::string& arch) const {
    std::vector<std::string> list = compiler_.flags;
    list.push_back(cpp::arch_flag(arch));
    list.insert(list.end(), compiler_.header_flags.begin(), compiler_.header_flags.end());
    // Without the compiler's start-up files everything that runs at load time or can be written is the candidate's own.
    list.insert(list.end(), {"-include", "constants.hpp", "-pipe", "-shared", "-nostartfiles", "kernel.cpp", "-o",
                             "kernel.so", "-Wl,--version-script=exports", "-Wl,--as-needed", "-Wl,-z,now",
                             "-Wl,-z,relro", "-Wl,-z,noexecstack", "-Wl,--build-id=none"});
    if (!compiler_.clang) list.emplace_back("-fno-use-linker-plugin");
    return list;
  }

  static Result<CompileOutcome> make_artifact(std::string bytes, const std::vector<std::string>& entries) {
    auto facts = cpp::read_elf_facts(bytes);
    if (!facts) return CompileFailed{"the compiled code cannot be read: " + facts.error().message + "\n"};
    for (const auto& entry : entries) {
      if (std::ranges::find(facts->exported, entry) != facts->exported.end()) continue;
      return CompileFailed{
          fmt::format("there is no function {0}: the entry point is\n"
                      "  extern \"C\" void {0}(const T* input, ..., T* output, ...)\n"
                      "with the task's inputs, then its outputs, then scratch buffers\n",
                      entry)};
    }
    Artifact artifact;
    artifact.kind = ArtifactKind::shared_object;
    artifact.language = "cpp";
    artifact.facts = std::move(facts->facts);
    for (const auto& entry : entries) artifact.facts.kernels.push_back({.name = entry});
    artifact.id = sha256_hex(bytes);
    artifact.bytes = std::move(bytes);
    return artifact;
  }

  Sandbox& sandbox_;
  const cpp::Compiler compiler_;
  worker::ProcessSlots slots_;
};

}  // namespace

Result<std::unique_ptr<Language>> make_cpp_language(const CppLanguageOptions& options) {
  KERF_CHECK(options.sandbox != nullptr, "compilers run in a sandbox");
  KERF_TRY(cpp::Compiler compiler, cpp::find_compiler(options));
  const int jobs = options.jobs > 0 ? options.jobs : available_cores();
  return std::make_unique<CppLanguage>(*options.sandbox, std::move(compiler), jobs);
}

}  // namespace kerf
