#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "device/cuda/cuda_device.hpp"
#include "export/export.hpp"
#include "language/cuda_cpp/cuda_language.hpp"
#include "target/entry.hpp"

namespace kerf {
namespace {

/// KERF_NVRTC is where the user says libnvrtc is, searched first.
CudaToolkitSearch search_for(const TargetResources& context) {
  CudaToolkitSearch search{{}, context.environment};
  if (const auto named = context.environment.find("KERF_NVRTC"); named != context.environment.end())
    for (const auto& folder : split(named->second, ':'))
      if (!folder.empty()) search.folders.push_back(folder);
  return search;
}

CudaDeviceOptions device_options(const TargetResources& context) {
  CudaDeviceOptions options;
  options.self = context.self;
  options.cache = context.cache;
  options.secret = context.secret;
  options.environment = context.environment;
  return options;
}

Result<Target> make(const TargetResources& context, const std::string& device, bool compile_only) {
  KERF_TRY(const int index, device_index(device, "cuda"));
  Target target;
  target.name = "cuda";
  target.clock = std::make_unique<SystemClock>();
  CudaDeviceOptions options = device_options(context);
  options.index = index;
  if (!compile_only) options.start = begin_cuda_device(options);  // contexts are made while the compiler starts
  CudaLanguageOptions language;
  language.self = context.self;
  language.search = search_for(context);
  language.sandbox = context.sandbox;
  language.processes = context.compile_jobs;
  KERF_TRY(target.language, make_cuda_language(language));
  if (compile_only) return target;
  options.language = target.language.get();
  KERF_TRY(target.device, make_cuda_device(options));
  return target;
}

std::vector<Finding> findings_of(const TargetResources& context) {
  std::vector<Finding> findings;
  for (const auto& f : diagnose_cuda_toolkit(search_for(context)))
    findings.push_back({"cuda", f.what, f.found, f.remedy});
  for (const auto& f : diagnose_cuda_devices(device_options(context)))
    findings.push_back({"cuda", f.what, f.found, f.remedy});
  return findings;
}

}  // namespace

TargetEntry cuda_target() {
  TargetDescription cuda;
  cuda.name = "cuda";
  cuda.help = "CUDA C++ on an NVIDIA GPU, compiled with NVRTC";
  cuda.dialect = &codegen::dialects::cuda_cpp;
  cuda.file_extension = ".cu";
  cuda.device_kind = "cuda";
  cuda.environment = {"KERF_NVRTC", "KERF_NCU", "CUDA_*", "NVRTC_*", "VIRTUAL_ENV"};
  cuda.exporter = &exporting::cuda_exporter();
  cuda.torch_device = "cuda";
  return {cuda,
          make,
          findings_of,
          {{"nvrtc", nvrtc_worker_main},
           {"cuda", cuda_worker_main},
           {"cuda-probe", cuda_probe_main},
           {"cuda-calls", cuda_calls_main}}};
}

}  // namespace kerf
