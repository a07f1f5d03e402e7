// A GPU's counters: the kernel runs once more in a process of its own, which ncu looks at.

#include <stdlib.h>

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/file.hpp"
#include "device/cuda/bench.hpp"
#include "device/cuda/counted_calls.hpp"
#include "device/cuda/ncu.hpp"
#include "device/cuda/worker_command.hpp"

namespace kerf::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostCountedBytes = 2ull << 30;  // of all buffers: they travel through a file
constexpr std::chrono::milliseconds kNcuLimit{120'000};

/// Removed with what is in it.
struct CallFolder {
  fs::path path;
  CallFolder() = default;
  CallFolder(const CallFolder&) = delete;
  CallFolder& operator=(const CallFolder&) = delete;
  ~CallFolder() {
    std::error_code error;
    if (!path.empty()) fs::remove_all(path, error);
  }
};

}  // namespace

Result<CountedCall> CudaBench::counted_call(KernelHandle kernel, int slot) {
  const auto loaded = kernels_.find(kernel);
  if (loaded == kernels_.end()) return fail(Errc::invalid_input, "no such kernel is loaded");
  std::uint64_t all = 0;
  for (const BufferSpec& buffer : layout_.buffers) all += bytes_of(buffer);
  if (all > kMostCountedBytes)
    return fail(Errc::unavailable,
                fmt::format("counters are read of tasks with up to {} GiB", kMostCountedBytes >> 30));
  CountedCall call;
  for (int i = 0; i < static_cast<int>(layout_.buffers.size()); ++i) {
    CountedCall::Buffer buffer{bytes_of(layout_.buffers[static_cast<std::size_t>(i)])};
    if (i < inputs()) {
      buffer.content.resize(buffer.bytes);
      KERF_TRY_VOID(read_buffer(slot, i, std::as_writable_bytes(std::span(buffer.content))));
    }
    call.buffers.push_back(std::move(buffer));
  }
  worker::Reader request(loaded->second.request);  // as it was loaded
  (void)request.get<Command>();
  (void)request.get<std::uint64_t>();
  call.cubin = request.text();
  call.scratch.resize(request.count());
  for (auto& bytes : call.scratch) bytes = request.get<std::uint64_t>();
  call.launches.resize(request.count());
  for (auto& one : call.launches) one = read_launch(request);
  return call;
}

Result<std::variant<Counted, Fault>> CudaBench::count(KernelHandle kernel, std::span<const int> slots,
                                                      std::chrono::milliseconds limit) {
  const fs::path ncu = find_ncu(options_.environment);
  if (ncu.empty())
    return fail(Errc::unavailable,
                "Nsight Compute (ncu) reads a GPU's counters, and none was found; KERF_NCU names it");
  if (slots.empty()) return fail(Errc::invalid_input, "counting needs a slot");
  KERF_TRY(const CountedCall call, counted_call(kernel, slots.front()));
  std::string name = (fs::temp_directory_path() / "kerf-ncu-XXXXXX").string();
  if (!::mkdtemp(name.data())) return fail(Errc::io, fmt::format("cannot make a temporary folder like {}", name));
  CallFolder folder;
  folder.path = name;
  KERF_TRY_VOID(write_file_atomic(folder.path / "call", encode(call)));
  worker::Command worker = worker_command(options_, "cuda-calls");
  std::vector<std::string> program = {worker.self.string(), "worker", worker.kind};
  program.insert(program.end(), worker.args.begin(), worker.args.end());
  program.insert(program.end(), {"--file", (folder.path / "call").string()});
  worker.environment["HOME"] = worker.environment["TMPDIR"] = name;  // where ncu may write
  KERF_TRY(auto values, run_ncu(ncu, program, worker.environment, folder.path, limit + kNcuLimit));
  return std::variant<Counted, Fault>(Counted{"ncu", std::move(values)});
}

}  // namespace kerf::cuda
