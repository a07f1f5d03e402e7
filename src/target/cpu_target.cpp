#include "codegen/dialects/dialects.hpp"
#include "device/cpu/cpu_device.hpp"
#include "export/export.hpp"
#include "language/cpp/cpp_language.hpp"
#include "target/entry.hpp"

namespace kerf {
namespace {

CppLanguageOptions language_options(const TargetResources& context) {
  return {context.sandbox, context.cache, context.environment, context.compile_jobs};
}

Result<Target> make(const TargetResources& context, const std::string& device, bool compile_only) {
  if (!device.empty() && device != "cpu")
    return fail(Errc::invalid_input, "unknown device '" + device + "': target cpu has only 'cpu'");
  Target target;
  target.name = "cpu";
  target.clock = std::make_unique<SystemClock>();
  KERF_TRY(target.language, make_cpp_language(language_options(context)));
  if (compile_only) return target;
  CpuDeviceOptions options;
  options.self = context.self;
  options.sandbox = context.sandbox;
  options.clock = target.clock.get();
  KERF_TRY(target.device, make_cpu_device(options));
  return target;
}

std::vector<Finding> findings_of(const TargetResources& context) {
  const auto language = make_cpp_language(language_options(context));
  if (!language) return {{"cpu", "compiler", "", language.error().message}};
  return {{"cpu", "compiler", (*language)->version(), ""}};
}

}  // namespace

TargetEntry cpu_target() {
  TargetDescription cpu;
  cpu.name = "cpu";
  cpu.help = "C++ on this machine's processor, compiled with g++ or clang";
  cpu.dialect = &codegen::dialects::cpp;
  cpu.file_extension = ".cpp";
  cpu.device_kind = "cpu";
  cpu.runs_cpp_references = true;
  cpu.exporter = &exporting::cpp_exporter();
  cpu.torch_device = "cpu";
  return {cpu, make, findings_of, {{"cpu", cpu_worker_main}}};
}

}  // namespace kerf
