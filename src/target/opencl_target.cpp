#include "codegen/dialects/dialects.hpp"
#include "device/opencl/opencl_device.hpp"
#include "export/export.hpp"
#include "language/opencl_c/opencl_language.hpp"
#include "target/entry.hpp"

namespace kerf {
namespace {

OpenclOptions options_for(const TargetResources& context, Clock* clock, int device) {
  OpenclOptions options;
  options.self = context.self;
  options.cache = context.cache;
  options.sandbox = context.sandbox;
  options.clock = clock;
  options.device = device;
  options.compile_jobs = context.compile_jobs;
  options.environment = context.environment;
  return options;
}

Result<Target> make(const TargetResources& context, const std::string& device, bool compile_only) {
  KERF_TRY(const int index, device_index(device, "opencl"));
  Target target;
  target.name = "opencl";
  target.clock = std::make_unique<SystemClock>();
  const OpenclOptions options = options_for(context, target.clock.get(), index);
  KERF_TRY(target.language, make_opencl_language(options));
  if (compile_only) return target;
  KERF_TRY(target.device, make_opencl_device(options));
  return target;
}

std::vector<Finding> findings_of(const TargetResources& context) {
  SystemClock clock;
  std::vector<Finding> findings;
  for (const OpenclFinding& f : diagnose_opencl(options_for(context, &clock, 0)))
    findings.push_back({"opencl", f.what, f.found, f.remedy});
  return findings;
}

}  // namespace

TargetEntry opencl_target() {
  TargetDescription opencl;
  opencl.name = "opencl";
  opencl.help = "OpenCL C on any OpenCL device, compiled by its driver";
  opencl.dialect = &codegen::dialects::opencl_c;
  opencl.file_extension = ".cl";
  opencl.device_kind = "opencl";
  opencl.environment = {"OPENCL_VENDOR_PATH", "OCL_*", "POCL_*"};
  opencl.exporter = &exporting::opencl_exporter();
  return {
      opencl,
      make,
      findings_of,
      {{"opencl", opencl_worker_main}, {"opencl-compile", opencl_compile_main}, {"opencl-probe", opencl_probe_main}}};
}

}  // namespace kerf
