#include "language/opencl_c/opencl_language.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/parallel.hpp"
#include "base/source_rules.hpp"
#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "language/opencl_c/calibration.hpp"
#include "language/opencl_c/compile_protocol.hpp"
#include "language/opencl_c/source_text.hpp"
#include "worker/pool.hpp"

namespace kerf {
namespace {

/// The newest OpenCL C the driver has; arguments keep their names so that a launch plan's mistakes can be explained.
/// Nothing relaxes arithmetic.
std::string build_options(const OpenclDevice& device) {
  std::string standard = "CL1.2";
  for (const char* version : {"2.0", "3.0"}) {
    if (device.language_version.find(fmt::format("OpenCL C {}", version)) != std::string::npos) {
      standard = fmt::format("CL{}", version);
    }
  }
  return fmt::format("-cl-std={} -cl-kernel-arg-info", standard);
}

std::vector<std::string> names_of(const StaticFacts& facts) {
  std::vector<std::string> names;
  for (const auto& kernel : facts.kernels) names.push_back(kernel.name);
  return names;
}

std::string missing_entry_points(const CompileRequest& request, const StaticFacts& facts) {
  const auto names = names_of(facts);
  std::string text;
  for (const auto& wanted : request.entry_points) {
    if (std::find(names.begin(), names.end(), wanted) != names.end()) continue;
    text +=
        fmt::format("the launch plan names the kernel '{}', but the source has no __kernel function of that name{}\n",
                    wanted, did_you_mean(wanted, names));
  }
  if (text.empty() && names.empty()) return "the source has no __kernel function\n";
  if (!text.empty())
    text += names.empty() ? "it has no kernels\n" : fmt::format("its kernels: {}\n", join(names, ", "));
  return text;
}

/// Each once, in order.
void merge(std::vector<std::string>& into, const std::vector<std::string>& more) {
  std::set<std::string> all(into.begin(), into.end());
  all.insert(more.begin(), more.end());
  into.assign(all.begin(), all.end());
}

worker::PoolOptions pool_options(int jobs) {
  worker::PoolOptions options;
  options.compiler = "the OpenCL compiler";
  options.most_processes = jobs;
  options.start_limit = std::chrono::milliseconds(60000);  // a cold start reads 200 MB of compiler
  options.most_requests = 500;                             // drivers leak
  options.unusable = Errc::unavailable;
  return options;
}

class OpenclLanguage final : public Language {
 public:
  OpenclLanguage(OpenclDevice device, worker::Command command, int jobs)
      : device_(std::move(device)), options_(build_options(device_)), pool_(std::move(command), pool_options(jobs)) {}

  Status start() { return pool_.warm(); }

  std::string_view name() const override { return "opencl_c"; }
  std::string version() const override {
    return fmt::format("{} {} ({}; {}) {}", device_.platform, device_.driver, device_.name, device_.device_version,
                       options_);
  }
  const codegen::DialectTraits& dialect() const override { return codegen::dialects::opencl_c; }

  Result<CompileOutcome> compile(const CompileRequest& request) override {
    for (const auto& [name, value] : request.constants) {
      if (!is_identifier(name))
        return fail(Errc::invalid_input, fmt::format("'{}' is not a name for a constant", name));
    }
    if (request.source.find('\0') != std::string::npos) return CompileFailed{"the source contains a zero byte"};
    const auto whole = opencl::with_constants(request.source, request.constants);
    const auto before = static_cast<std::size_t>(
        std::count(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(request.source.size()), '\n'));
    const auto well_formed = [](std::string_view bytes) { return opencl::decode_reply(bytes).has_value(); };
    KERF_TRY(auto answer, pool_.request(opencl::encode({whole, options_}), request.time_limit, well_formed));
    auto forbidden = opencl::forbidden_words(request.source);
    SourceRules rules{.trigraphs = true, .known_names = {}};
    for (const auto& [name, value] : request.constants) rules.known_names.push_back(name);
    merge(forbidden, outside_influences(request.source, rules));
    if (auto* lost = std::get_if<worker::Lost>(&answer)) {
      if (!forbidden.empty())
        lost->how += fmt::format("\nthe source uses {}, which is forbidden", join(forbidden, " and "));
      return CompileFailed{std::move(lost->how)};
    }
    KERF_TRY(auto reply, opencl::decode_reply(std::get<std::string>(answer)));
    if (!reply.built) {
      auto log = opencl::readable_log(reply.log, request.source, before);
      return CompileFailed{log.empty() ? "the OpenCL compiler refused the source without a word" : std::move(log)};
    }
    if (auto missing = missing_entry_points(request, reply.facts); !missing.empty())
      return CompileFailed{std::move(missing)};
    if (reply.binary.empty()) return fail(Errc::tool_failed, "the OpenCL driver gives out no program binary");
    Artifact artifact;
    artifact.kind = reply.listing.empty() ? ArtifactKind::opencl_binary : ArtifactKind::opencl_ptx;
    artifact.language = name();
    artifact.facts = std::move(reply.facts);
    merge(artifact.facts.forbidden_symbols, forbidden);
    artifact.disassembly_hint = std::move(reply.listing);
    artifact.bytes = std::move(reply.binary);
    artifact.id = sha256_hex(artifact.bytes);
    return artifact;
  }

  std::vector<CalibrationKernel> calibration_kernels(const std::string&) const override {
    return opencl::calibration_kernels(device_.type == "cpu", device_.fp64);
  }

 private:
  OpenclDevice device_;
  std::string options_;
  worker::Pool pool_;
};

}  // namespace

Result<std::unique_ptr<Language>> make_opencl_language(const OpenclOptions& options) {
  KERF_TRY(auto device, probe_opencl_device(options));
  KERF_TRY(const auto folder, opencl_work_folder(options, "compile"));
  worker::Command command;
  command.self = options.self;
  command.kind = "opencl-compile";
  command.args = {std::to_string(options.device), folder.string()};
  command.environment = opencl_environment(options);
  command.sandbox = options.sandbox;
  command.readable = opencl_readable(options);
  command.writable = {folder};
  command.restrict_files = device.type == "cpu";
  command.processes = 512;
  const int jobs = options.compile_jobs > 0 ? options.compile_jobs : available_cores();
  auto language = std::make_unique<OpenclLanguage>(std::move(device), std::move(command), jobs);
  KERF_TRY_VOID(language->start());
  return language;
}

}  // namespace kerf
