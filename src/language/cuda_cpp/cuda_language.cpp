#include "language/cuda_cpp/cuda_language.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "base/program_parts.hpp"
#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "language/cuda_cpp/calibration.hpp"
#include "language/cuda_cpp/cubin.hpp"
#include "language/cuda_cpp/nvcc.hpp"
#include "language/cuda_cpp/nvrtc_pool.hpp"
#include "language/cuda_cpp/nvrtc_protocol.hpp"
#include "language/cuda_cpp/ptx_globals.hpp"
#include "language/cuda_cpp/ptx_registers.hpp"
#include "language/cuda_cpp/standard_headers.hpp"
#include "model/cubin_images.hpp"

namespace kerf {
namespace {

/// Shape symbols and tunables as constants, then the candidate with its own line numbers.
Result<std::string> with_constants(const CompileRequest& request) {
  std::string text;
  for (const auto& [name, value] : request.constants) {
    if (!is_identifier(name)) return fail(Errc::invalid_input, fmt::format("'{}' is no name for a constant", name));
    const bool fits = value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
    // The smallest 64-bit number has no literal.
    const std::string literal = value == std::numeric_limits<std::int64_t>::min()
                                    ? "-9223372036854775807LL - 1"
                                    : fmt::format("{}{}", value, fits ? "" : "LL");
    text += fmt::format("[[maybe_unused]] constexpr {} {} = {};\n", fits ? "int" : "long long", name, literal);
  }
  return text + fmt::format("#line 1 \"{}\"\n", nvrtc::kSourceName) + request.source;
}

/// Instructions of exactly this device generation (wgmma, ...) need the 'a' variant, from 9.0 on.
std::string specific_arch(const std::string& arch) {
  const bool plain = arch.starts_with("sm_") && arch.size() > 3 &&
                     std::all_of(arch.begin() + 3, arch.end(), [](char c) { return c >= '0' && c <= '9'; });
  return plain && std::atoi(arch.c_str() + 3) >= 90 ? arch + "a" : arch;
}

std::string forbidden_name(const std::string& symbol) {
  if (symbol == "vprintf") return "vprintf (printing from the device)";
  if (symbol == "malloc" || symbol == "free") return symbol + " (the device's heap)";
  if (symbol.starts_with("__assert")) return symbol + " (assert)";
  if (symbol.starts_with("cuda") || symbol.starts_with("__cudaCDP") || symbol.starts_with("cnp")) {
    return symbol + " (launching from the device)";
  }
  return symbol + " (not defined in the source)";
}

StaticFacts static_facts(const CubinContents& cubin, std::string_view ptx) {
  StaticFacts facts;
  facts.kernels = cubin.kernels;
  const auto read_only = read_only_globals(ptx);
  for (const auto& global : cubin.globals) {
    if (read_only.contains(global.symbol)) continue;
    facts.writable_globals.push_back(fmt::format("{} ({} bytes{})", demangled(global.symbol), global.bytes,
                                                 global.constant ? ", __constant__" : ""));
  }
  for (const auto& symbol : cubin.undefined) facts.forbidden_symbols.push_back(forbidden_name(symbol));
  for (auto& name : identifying_registers(ptx)) facts.forbidden_symbols.push_back(std::move(name));
  return facts;
}

/// "" when every entry point is there.
std::string missing_entry_points(const std::vector<KernelFacts>& kernels, const std::vector<std::string>& wanted) {
  std::string log;
  for (const auto& name : wanted) {
    const auto is_named = [&](const KernelFacts& kernel) { return kernel.name == name; };
    if (std::any_of(kernels.begin(), kernels.end(), is_named)) continue;
    std::vector<std::string> known;
    std::string hint;
    for (const auto& kernel : kernels) {
      const auto plain = demangled(kernel.name);
      known.push_back(plain);
      if (plain.starts_with(name + "(")) hint = "; declare it extern \"C\" __global__";
    }
    log += fmt::format("the launch plan names a kernel '{}' that the source does not define{}; it defines: {}\n", name,
                       hint, known.empty() ? "none" : join(known, ", "));
  }
  return log;
}

void add_new(std::vector<std::string>& into, std::vector<std::string> names) {
  for (auto& name : names)
    if (std::ranges::find(into, name) == into.end()) into.push_back(std::move(name));
}

/// The common half: facts, entry points, id. What one part of a program does counts for the whole.
Result<CompileOutcome> finish(const CompileRequest& request, std::vector<NvrtcCompiled> parts) {
  Artifact artifact;
  artifact.kind = ArtifactKind::cubin;
  artifact.language = "cuda_cpp";
  std::vector<std::string> images;
  for (auto& part : parts) {
    auto cubin = read_cubin(part.cubin);
    if (!cubin)
      return fail(Errc::tool_failed, fmt::format("the compiler's cubin cannot be read: {}", cubin.error().message));
    StaticFacts facts = static_facts(*cubin, part.ptx);
    std::ranges::move(facts.kernels, std::back_inserter(artifact.facts.kernels));
    add_new(artifact.facts.writable_globals, std::move(facts.writable_globals));
    add_new(artifact.facts.forbidden_symbols, std::move(facts.forbidden_symbols));
    images.push_back(std::move(part.cubin));
    artifact.disassembly_hint += part.ptx;
  }
  if (auto log = missing_entry_points(artifact.facts.kernels, request.entry_points); !log.empty())
    return CompileFailed{std::move(log)};
  artifact.bytes = join_images(images);
  artifact.id = sha256_hex(artifact.bytes);
  return artifact;
}

class CudaLanguage final : public Language {
 public:
  CudaLanguage(const CudaLanguageOptions& options, CudaToolkit toolkit)
      : options_(options), toolkit_(std::move(toolkit)), nvcc_slots_(processes()) {}

  Status start() {
    if (!toolkit_.nvrtc.empty() && !options_.prefer_nvcc) {
      pool_ = std::make_unique<NvrtcPool>(compiler_process(), processes());
      KERF_TRY(const std::string found, pool_->version());
      version_ = fmt::format("NVRTC {} {}{}", found, join(kernel_options(), " "),
                             toolkit_.includes.empty() ? " (no headers)" : "");
    } else {
      nvcc_ = std::make_unique<NvccCompiler>(toolkit_.nvcc, *options_.sandbox, options_.memory_bytes);
      KERF_TRY(const std::string found, nvcc_->version());
      version_ = fmt::format("nvcc {} -std=c++17", found);
    }
    return {};
  }

  std::string_view name() const override { return "cuda_cpp"; }
  std::string version() const override { return version_; }
  const codegen::DialectTraits& dialect() const override { return codegen::dialects::cuda_cpp; }
  std::vector<CalibrationKernel> calibration_kernels(const std::string& arch) const override {
    return cuda_calibration_kernels(arch);
  }

  Result<CompileOutcome> compile(const CompileRequest& request) override {
    KERF_TRY(const std::string source, with_constants(request));
    if (pool_) {
      KERF_TRY(auto outcome, compile_parts(source, request));
      if (outcome) return *std::move(outcome);
    }
    const std::string specific = specific_arch(request.arch);
    KERF_TRY(NvrtcOutcome outcome, attempt(source, specific, request.time_limit));
    const auto* refused = std::get_if<NvrtcRefused>(&outcome);
    if (refused && refused->bad_option && specific != request.arch) {
      KERF_TRY(outcome, attempt(source, request.arch, request.time_limit));
      refused = std::get_if<NvrtcRefused>(&outcome);
    }
    if (refused && refused->bad_option) {
      return fail(Errc::tool_failed,
                  fmt::format("{} does not compile for {}: {}", version_, request.arch, refused->log));
    }
    if (refused) return CompileFailed{refused->log};
    if (auto* lost = std::get_if<NvrtcLost>(&outcome)) return CompileFailed{std::move(lost->how)};
    std::vector<NvrtcCompiled> compiled;
    compiled.push_back(std::get<NvrtcCompiled>(std::move(outcome)));
    return finish(request, std::move(compiled));
  }

 private:
  /// A program of many kernels, in parts side by side. Nothing for one that is compiled whole: of few kernels, or where
  /// a part was refused, so that what is said of it is about the whole.
  Result<std::optional<CompileOutcome>> compile_parts(const std::string& source, const CompileRequest& request) {
    const auto parts = program_parts(source, request.entry_points);
    std::vector<Result<NvrtcOutcome>> outcomes(parts.size(), NvrtcOutcome(NvrtcRefused{}));
    const std::string arch = specific_arch(request.arch);
    const auto count = static_cast<std::int64_t>(parts.size());
    parallel_for(count, 1, processes(), [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
        outcomes[i] = attempt(without(source, parts[i]), arch, request.time_limit);
    });
    std::vector<NvrtcCompiled> compiled;
    for (auto& outcome : outcomes) {
      if (!outcome) return tl::unexpected(outcome.error());
      if (auto* lost = std::get_if<NvrtcLost>(&*outcome)) return CompileFailed{std::move(lost->how)};
      if (auto* part = std::get_if<NvrtcCompiled>(&*outcome)) compiled.push_back(std::move(*part));
    }
    if (compiled.empty() || compiled.size() < parts.size()) return std::nullopt;
    KERF_TRY(auto whole, finish(request, std::move(compiled)));
    return whole;
  }

  int processes() const { return options_.processes > 0 ? options_.processes : available_cores(); }

  worker::Command compiler_process() const {
    worker::Command command;
    command.self = options_.self;
    command.kind = "nvrtc";
    command.args = {"--library",  toolkit_.nvrtc.string(),
                    "--builtins", toolkit_.builtins.string(),
                    "--memory",   std::to_string(options_.memory_bytes)};
    command.sandbox = options_.sandbox;
    command.readable = toolkit_.includes;
    std::error_code error;  // libraries are often links: both ends must be readable
    for (const auto& library : {toolkit_.nvrtc, toolkit_.builtins}) {
      command.readable.push_back(library.parent_path());
      command.readable.push_back(std::filesystem::canonical(library, error).parent_path());
    }
    std::erase_if(command.readable, [](const auto& path) { return path.empty(); });
    return command;
  }

  Result<NvrtcOutcome> attempt(const std::string& source, const std::string& arch, std::chrono::milliseconds limit) {
    if (nvcc_) {
      const auto slot = nvcc_slots_.take();
      return nvcc_->compile(source, arch, limit);
    }
    NvrtcProgram program{source, kernel_options()};
    program.options.push_back("--gpu-architecture=" + arch);
    for (const auto& folder : toolkit_.includes) program.options.push_back("-I" + folder.string());
    return pool_->compile(program, limit);
  }

  CudaLanguageOptions options_;
  CudaToolkit toolkit_;
  std::string version_;
  std::unique_ptr<NvrtcPool> pool_;  // one of the two
  std::unique_ptr<NvccCompiler> nvcc_;
  worker::ProcessSlots nvcc_slots_;
};

}  // namespace

Result<std::unique_ptr<Language>> make_cuda_language(const CudaLanguageOptions& options) {
  auto toolkit = find_cuda_toolkit(options.search);
  const bool use_nvcc = toolkit.nvrtc.empty() || options.prefer_nvcc;
  if (use_nvcc && (toolkit.nvcc.empty() || !options.sandbox)) {
    return fail(
        Errc::unavailable,
        fmt::format("no NVRTC (libnvrtc.so) in {}; install the CUDA toolkit, or run tools/nvrtc_wheels.sh FOLDER and "
                    "give that folder to kerf (--nvrtc FOLDER)",
                    join(toolkit.looked, ", ")));
  }
  auto language = std::make_unique<CudaLanguage>(options, std::move(toolkit));
  KERF_TRY_VOID(language->start());
  return language;
}

}  // namespace kerf
