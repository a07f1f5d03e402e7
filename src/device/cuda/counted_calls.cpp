#include "device/cuda/counted_calls.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>

#include "base/file.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/modules.hpp"
#include "worker/message.hpp"

namespace kerf {
namespace cuda {
namespace {

constexpr std::uint64_t kFreeSharedBytes = 48 << 10;  // dynamic shared memory that needs no asking

Status launch(const Driver& driver, const Modules& modules, const LaunchNumbers& numbers,
              std::vector<CUdeviceptr>& memory) {
  KERF_TRY(const CUfunction function, modules.function(driver, numbers.kernel));
  if (numbers.shared_bytes > kFreeSharedBytes)
    KERF_CUDA(driver, cuFuncSetAttribute, function, kFunctionMaxDynamicShared, static_cast<int>(numbers.shared_bytes));
  std::vector<void*> arguments;
  for (const std::uint64_t arg : numbers.args) {
    if (arg >= memory.size()) return fail(Errc::invalid_input, "a launch argument that is no buffer");
    arguments.push_back(&memory[arg]);
  }
  arguments.push_back(nullptr);
  const auto number = [](std::uint64_t extent) { return static_cast<unsigned>(extent); };
  const auto& [grid, block] = std::pair(numbers.grid, numbers.block);
  if (std::ranges::count(grid, 0u) > 0) return {};
  KERF_CUDA(driver, cuLaunchKernel, function, number(grid[0]), number(grid[1]), number(grid[2]), number(block[0]),
            number(block[1]), number(block[2]), number(numbers.shared_bytes), nullptr, arguments.data(), nullptr);
  return {};
}

}  // namespace

std::string encode(const CountedCall& call) {
  worker::Writer out;
  out.put<std::uint64_t>(call.buffers.size());
  for (const auto& buffer : call.buffers) out.put(buffer.bytes).text(buffer.content);
  out.put<std::uint64_t>(call.scratch.size());
  for (const std::uint64_t bytes : call.scratch) out.put(bytes);
  out.text(call.cubin).put<std::uint64_t>(call.launches.size());
  for (const LaunchNumbers& one : call.launches) write(out, one);
  return out.bytes();
}

Result<CountedCall> decode_counted_call(std::string_view text) {
  worker::Reader in(text);
  CountedCall call;
  call.buffers.resize(in.count());
  for (auto& buffer : call.buffers) {
    buffer.bytes = in.get<std::uint64_t>();
    buffer.content = in.text();
  }
  call.scratch.resize(in.count());
  for (auto& bytes : call.scratch) bytes = in.get<std::uint64_t>();
  call.cubin = in.text();
  call.launches.resize(in.count());
  for (auto& one : call.launches) one = read_launch(in);
  if (!in.ok()) return fail(Errc::invalid_input, "the file holds no call");
  return call;
}

Status run_counted_call(const CountedCall& call, const std::string& driver_library, int index) {
  KERF_TRY(const Driver driver, open_driver(driver_library));
  KERF_CUDA(driver, cuInit, 0);
  CUdevice device = 0;
  CUcontext context = nullptr;
  KERF_CUDA(driver, cuDeviceGet, &device, index);
  KERF_CUDA(driver, cuDevicePrimaryCtxRetain, &context, device);
  KERF_CUDA(driver, cuCtxSetCurrent, context);
  std::vector<CUdeviceptr> memory;
  const auto allocate = [&](std::uint64_t bytes, const std::string& content) -> Status {
    CUdeviceptr pointer = 0;
    KERF_CUDA(driver, cuMemAlloc_v2, &pointer, std::max<std::uint64_t>(bytes, 1));
    memory.push_back(pointer);
    if (content.empty())
      KERF_CUDA(driver, cuMemsetD8Async, pointer, 0, bytes, nullptr);
    else
      KERF_CUDA(driver, cuMemcpyHtoDAsync_v2, pointer, content.data(), std::min<std::uint64_t>(bytes, content.size()),
                nullptr);
    return {};
  };
  for (const auto& buffer : call.buffers) KERF_TRY_VOID(allocate(buffer.bytes, buffer.content));
  for (const std::uint64_t bytes : call.scratch) KERF_TRY_VOID(allocate(bytes, ""));
  Modules modules;
  KERF_TRY_VOID(modules.load(driver, call.cubin));
  KERF_CUDA(driver, cuCtxSynchronize);
  for (const LaunchNumbers& one : call.launches) KERF_TRY_VOID(launch(driver, modules, one, memory));
  KERF_CUDA(driver, cuCtxSynchronize);
  return {};
}

}  // namespace cuda

int cuda_calls_main(std::span<const std::string> args) {
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i + 1 < args.size(); i += 2) values[args[i]] = args[i + 1];
  const auto text = read_file(values["--file"]);
  const auto call = text ? cuda::decode_counted_call(*text) : tl::unexpected<Error>(text.error());
  const Status ran = call ? cuda::run_counted_call(*call, values["--driver"], std::atoi(values["--device"].c_str()))
                          : tl::unexpected<Error>(call.error());
  if (ran) return 0;
  std::fprintf(stderr, "==ERROR== %s\n", ran.error().message.c_str());
  return 1;
}

}  // namespace kerf
