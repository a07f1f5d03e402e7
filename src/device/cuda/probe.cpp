// What GPUs there are, asked in a short-lived process.

#include <cstdio>
#include <fstream>
#include <map>
#include <regex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/worker_command.hpp"
#include "worker/link.hpp"
#include "worker/process.hpp"

namespace kerf {
namespace {

using nlohmann::json;

constexpr const char* kRemedy = "an NVIDIA GPU and its driver (libcuda.so.1) are needed; `nvidia-smi` must work";

/// "580.95.05", from the kernel module; "" when it does not say.
std::string kernel_module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::smatch match;
  return std::regex_search(line, match, std::regex("\\s([0-9]+\\.[0-9]+(\\.[0-9]+)?)\\s")) ? match[1].str()
                                                                                           : std::string();
}

Result<json> describe_device(const cuda::Driver& driver, int index) {
  cuda::CUdevice device = 0;
  KERF_CUDA(driver, cuDeviceGet, &device, index);
  char name[256] = {};
  KERF_CUDA(driver, cuDeviceGetName, name, sizeof name, device);
  std::size_t memory = 0;
  KERF_CUDA(driver, cuDeviceTotalMem_v2, &memory, device);
  json entry{{"index", index}, {"name", name}, {"memory_bytes", memory}};
  const std::pair<const char*, int> attributes[] = {
      {"multiprocessors", cuda::kMultiprocessors}, {"l2_bytes", cuda::kL2Bytes},
      {"major", cuda::kCapabilityMajor},           {"minor", cuda::kCapabilityMinor},
      {"max_shared", cuda::kMaxSharedOptIn},       {"max_threads", cuda::kMaxThreadsPerBlock}};
  for (const auto& [key, attribute] : attributes) {
    int value = 0;
    KERF_CUDA(driver, cuDeviceGetAttribute, &value, attribute, device);
    entry[key] = value;
  }
  return entry;
}

Result<json> describe_machine(const std::string& library) {
  KERF_TRY(const cuda::Driver driver, cuda::open_driver(library));
  KERF_CUDA(driver, cuInit, 0);
  int version = 0, count = 0;
  KERF_CUDA(driver, cuDriverGetVersion, &version);
  KERF_CUDA(driver, cuDeviceGetCount, &count);
  json machine{{"cuda", version}, {"driver", kernel_module_version()}, {"devices", json::array()}};
  for (int i = 0; i < count; ++i) {
    KERF_TRY(json entry, describe_device(driver, i));
    machine["devices"].push_back(std::move(entry));
  }
  return machine;
}

DeviceFacts facts_of(const json& machine, const json& device) {
  const int version = machine.value("cuda", 0);
  const std::string module = machine.value("driver", "");
  DeviceFacts facts;
  facts.id = fmt::format("cuda:{}", device.value("index", 0));
  facts.name = device.value("name", "");
  facts.driver =
      fmt::format("CUDA {}.{}{}{}", version / 1000, version % 1000 / 10, module.empty() ? "" : ", driver ", module);
  facts.arch = fmt::format("sm_{}{}", device.value("major", 0), device.value("minor", 0));
  const int capability = 10 * device.value("major", 0) + device.value("minor", 0);
  if (capability < 80) facts.lacks = {"matrix_units", "async_copy"};
  if (capability != 90) facts.lacks.emplace_back("warpgroup_matrix_units");
  facts.compute_units = device.value("multiprocessors", 0);
  facts.memory_bytes = device.value("memory_bytes", std::int64_t{0});
  facts.cache_bytes = device.value("l2_bytes", std::int64_t{0});
  facts.settles_cache = facts.cache_bytes > 0;  // Session::settle_cache
  facts.max_threads_per_block = device.value("max_threads", std::int64_t{0});
  facts.max_shared_bytes = device.value("max_shared", std::int64_t{0});
  return facts;
}

}  // namespace

Result<std::vector<DeviceFacts>> probe_cuda_devices(const CudaDeviceOptions& options) {
  auto command = cuda::worker_command(options, "cuda-probe");
  KERF_TRY(auto process, worker::Process::start(command));
  auto answer = process->receive(std::chrono::seconds(30));
  if (!answer) return fail(Errc::unavailable, fmt::format("the GPU probe {}; {}", answer.error().message, kRemedy));
  const auto machine = json::parse(*answer, nullptr, false);
  if (machine.is_discarded() || !machine.is_object())
    return fail(Errc::unavailable, "the GPU probe sent a malformed answer");
  if (machine.contains("error")) {
    return fail(Errc::unavailable, fmt::format("{}; {}", machine.value("error", ""), kRemedy));
  }
  std::vector<DeviceFacts> devices;
  for (const auto& device : machine.value("devices", json::array())) devices.push_back(facts_of(machine, device));
  if (devices.empty()) return fail(Errc::unavailable, fmt::format("the driver knows no GPU; {}", kRemedy));
  return devices;
}

std::vector<CudaDeviceFinding> diagnose_cuda_devices(const CudaDeviceOptions& options) {
  const auto devices = probe_cuda_devices(options);
  if (!devices) return {{"device", "", devices.error().message}};
  std::vector<CudaDeviceFinding> findings;
  for (const auto& facts : *devices) {
    findings.push_back(
        {"device",
         fmt::format("{}: {}, {}, {}, {} multiprocessors, {:.0f} GiB", facts.id, facts.name, facts.driver, facts.arch,
                     facts.compute_units, static_cast<double>(facts.memory_bytes) / (1 << 30)),
         ""});
  }
  return findings;
}

int cuda_probe_main(std::span<const std::string> args) {
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i + 1 < args.size(); i += 2) values[args[i]] = args[i + 1];
  auto link = worker::enter_worker(0);
  if (!link) {
    std::fprintf(stderr, "%s\n", link.error().message.c_str());
    return 2;
  }
  const auto machine = describe_machine(values["--driver"]);
  const json answer = machine ? *machine : json{{"error", machine.error().message}};
  return link->send(answer.dump(-1, ' ', false, json::error_handler_t::replace)) ? 0 : 1;
}

}  // namespace kerf
