#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "opencl/cl_library.hpp"
#include "opencl/opencl_options.hpp"

namespace kerf {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kProbeLimit{30000};  // a cold driver reads 200 MB of libraries

std::string type_name(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_CPU) return "cpu";
  if (type & CL_DEVICE_TYPE_GPU) return "gpu";
  return "accelerator";
}

json describe(const opencl::ClFunctions& cl, cl_platform_id platform, cl_device_id device) {
  using opencl::device_text;
  using opencl::device_value;
  const auto extensions = split(device_text(cl, device, CL_DEVICE_EXTENSIONS), ' ');
  const auto has = [&](std::string_view name) {
    return std::find(extensions.begin(), extensions.end(), name) != extensions.end();
  };
  return {{"platform", opencl::platform_text(cl, platform, CL_PLATFORM_NAME)},
          {"name", device_text(cl, device, CL_DEVICE_NAME)},
          {"vendor", device_text(cl, device, CL_DEVICE_VENDOR)},
          {"driver", device_text(cl, device, CL_DRIVER_VERSION)},
          {"device_version", device_text(cl, device, CL_DEVICE_VERSION)},
          {"language_version", device_text(cl, device, CL_DEVICE_OPENCL_C_VERSION)},
          {"type", type_name(device_value<cl_device_type>(cl, device, CL_DEVICE_TYPE))},
          {"compute_units", device_value<cl_uint>(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS)},
          {"memory_bytes", device_value<cl_ulong>(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE)},
          {"cache_bytes", device_value<cl_ulong>(cl, device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE)},
          {"max_work_group", device_value<std::size_t>(cl, device, CL_DEVICE_MAX_WORK_GROUP_SIZE)},
          {"local_bytes", device_value<cl_ulong>(cl, device, CL_DEVICE_LOCAL_MEM_SIZE)},
          {"fp64", has("cl_khr_fp64")},
          {"fp16", has("cl_khr_fp16")}};
}

Result<json> describe_all() {
  KERF_TRY(const auto cl, opencl::open_cl_library());
  KERF_TRY(const auto devices, opencl::list_devices(cl));
  json all = json::array();
  for (const auto& [platform, device] : devices) all.push_back(describe(cl, platform, device));
  return all;
}

OpenclDevice from_json(const json& item) {
  OpenclDevice device;
  device.platform = item.at("platform");
  device.name = item.at("name");
  device.vendor = item.at("vendor");
  device.driver = item.at("driver");
  device.device_version = item.at("device_version");
  device.language_version = std::string(trim(item.at("language_version").get<std::string>()));
  device.type = item.at("type");
  device.compute_units = item.at("compute_units");
  device.memory_bytes = item.at("memory_bytes");
  device.cache_bytes = item.at("cache_bytes");
  device.max_work_group = item.at("max_work_group");
  device.local_bytes = item.at("local_bytes");
  device.fp64 = item.at("fp64");
  device.fp16 = item.at("fp16");
  return device;
}

}  // namespace

int opencl_probe_main(std::span<const std::string>) {
  const auto found = describe_all();
  const json answer = found ? *found : json{{"error", found.error().message}};
  const auto text = answer.dump(-1, ' ', false, json::error_handler_t::replace);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return found ? 0 : 3;
}

std::map<std::string, std::string> opencl_environment(const OpenclOptions& options) {
  std::map<std::string, std::string> environment;
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"}) {
    if (const auto found = options.environment.find(name); found != options.environment.end())
      environment.insert(*found);
  }
  environment.try_emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  environment.insert_or_assign("LC_ALL", std::string(1, 'C'));
  // PoCL counts the machine's cores; the judge may be confined to fewer.
  environment.insert_or_assign("POCL_MAX_PTHREAD_COUNT", std::to_string(available_cores()));
  return environment;
}

std::vector<std::filesystem::path> opencl_readable(const OpenclOptions& options) {
  std::vector<std::filesystem::path> readable{"/etc/OpenCL", "/sys/devices/system", "/proc/cpuinfo"};
  for (const char* name : {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "LD_LIBRARY_PATH"}) {
    const auto found = options.environment.find(name);
    if (found == options.environment.end()) continue;
    for (const auto& part : split(found->second, ':')) {
      if (!part.empty() && part.front() == '/') readable.emplace_back(part);
    }
  }
  return readable;
}

Result<std::filesystem::path> opencl_work_folder(const OpenclOptions& options, const std::string& kind) {
  std::error_code error;
  const auto folder = std::filesystem::absolute(options.cache / ("opencl-" + kind), error);
  if (!error) std::filesystem::create_directories(folder, error);
  if (error) return fail(Errc::io, fmt::format("cannot create {}: {}", folder.string(), error.message()));
  return folder;
}

Result<std::vector<OpenclDevice>> probe_opencl(const OpenclOptions& options) {
  KERF_CHECK(options.sandbox != nullptr, "the probe runs in the sandbox");
  KERF_TRY(const auto folder, opencl_work_folder(options, "probe"));
  SandboxCommand command;
  command.argv = {options.self.string(), "worker", "opencl-probe"};
  command.environment = opencl_environment(options);
  command.environment["POCL_CACHE_DIR"] = folder.string();
  command.writable = {folder};
  command.restrict_files = false;  // no candidate code runs here, and GPU drivers open device files
  command.limits.wall = kProbeLimit;
  command.limits.processes = 512;
  KERF_TRY(const auto outcome, options.sandbox->run(command));
  if (outcome.timed_out) return fail(Errc::unavailable, "the OpenCL driver did not answer within 30 s");
  const auto answer = json::parse(outcome.out, nullptr, false);
  if (answer.is_object() && answer.contains("error"))
    return fail(Errc::unavailable, answer.at("error").get<std::string>());
  if (outcome.signal != 0 || !answer.is_array()) {
    return fail(Errc::unavailable, fmt::format("asking the OpenCL driver for its devices failed ({}): {}",
                                               outcome.signal != 0 ? fmt::format("signal {}", outcome.signal)
                                                                   : fmt::format("exit code {}", outcome.exit_code),
                                               trim(outcome.err)));
  }
  std::vector<OpenclDevice> devices;
  try {
    for (const auto& item : answer) devices.push_back(from_json(item));
  } catch (const json::exception& error) {
    return fail(Errc::unavailable, fmt::format("the OpenCL probe answered strangely: {}", error.what()));
  }
  if (devices.empty()) {
    return fail(Errc::unavailable, fmt::format("OpenCL is installed but offers no device: {}", kOpenclRemedy));
  }
  return devices;
}

Result<OpenclDevice> probe_opencl_device(const OpenclOptions& options) {
  KERF_TRY(auto devices, probe_opencl(options));
  if (options.device < 0 || static_cast<std::size_t>(options.device) >= devices.size()) {
    const std::string all =
        devices.size() == 1 ? "opencl:0 only" : fmt::format("opencl:0 to opencl:{}", devices.size() - 1);
    return fail(Errc::not_found, fmt::format("opencl:{} does not exist; this machine has {}", options.device, all));
  }
  return std::move(devices[static_cast<std::size_t>(options.device)]);
}

}  // namespace kerf
