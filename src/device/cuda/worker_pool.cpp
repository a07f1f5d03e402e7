#include "device/cuda/worker_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "device/cuda/protocol.hpp"
#include "device/cuda/worker_command.hpp"
#include "worker/message.hpp"

namespace kerf::cuda {
namespace {

constexpr std::chrono::milliseconds kStartLimit{60000};

}  // namespace

worker::Command worker_command(const CudaDeviceOptions& options, const std::string& kind) {
  worker::Command command;
  command.self = options.self;
  command.kind = kind;
  command.args = {"--driver", options.driver_library, "--device", std::to_string(options.index)};
  for (const auto* name :
       {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "PATH"}) {
    const auto it = options.environment.find(name);
    if (it != options.environment.end()) command.environment[name] = it->second;
  }
  command.environment["CUDA_MODULE_LOADING"] = "EAGER";  // code is on the device before the first launch is timed
  command.environment["CUDA_CACHE_DISABLE"] = "1";
  return command;
}

GpuWorker::~GpuWorker() {
  process_->kill();
  ::munmap(staging_, kStagingBytes);
  ::close(descriptor_);
}

WorkerPool::WorkerPool(CudaDeviceOptions options) : options_(std::move(options)) {}

void WorkerPool::start_ahead(int count) {
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < count; ++i) {
    auto worker = start();
    if (!worker) return;  // the first take reports it
    starting_.push_back(*std::move(worker));
  }
}

void WorkerPool::make_room_for(const Tenant& tenant) {
  for (Tenant* other : tenants_)
    if (other != &tenant) other->give_way();
}

Result<std::unique_ptr<GpuWorker>> WorkerPool::start() const {
  const int descriptor = ::memfd_create("kerf-staging", MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(kStagingBytes)) != 0) {
    if (descriptor >= 0) ::close(descriptor);
    return fail(Errc::io, fmt::format("cannot make staging memory: {}", std::strerror(errno)));
  }
  void* staging = ::mmap(nullptr, kStagingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (staging == MAP_FAILED) {
    ::close(descriptor);
    return fail(Errc::io, fmt::format("cannot map staging memory: {}", std::strerror(errno)));
  }
  auto process = worker::Process::start(worker_command(options_, "cuda"));
  if (!process) {
    ::munmap(staging, kStagingBytes);
    ::close(descriptor);
    return tl::unexpected<Error>(std::move(process).error());
  }
  return std::make_unique<GpuWorker>(*std::move(process), descriptor, static_cast<std::byte*>(staging));
}

Status WorkerPool::make_ready(GpuWorker& worker) const {
  auto greeting = worker.process().receive(kStartLimit);
  if (!greeting) return fail(Errc::unavailable, fmt::format("the GPU worker {}", greeting.error().message));
  worker::Reader hello(*greeting);
  const bool usable = hello.get<bool>();
  const std::string why = hello.text();
  if (!hello.ok() || !usable) return fail(Errc::unavailable, fmt::format("the GPU worker cannot start: {}", why));
  const auto request =
      worker::Writer().put(Command::setup).text(judge_cubin_).text(local_cubin_).put(kStagingBytes).bytes();
  KERF_TRY_VOID(worker.process().send(request, worker.descriptor()));
  KERF_TRY(const std::string answer, worker.process().receive(kStartLimit));
  worker::Reader reader(answer);
  if (reader.get<Answer>() != Answer::ok) {
    return fail(Errc::unavailable, fmt::format("the GPU worker cannot set up: {}", reader.text()));
  }
  return {};
}

Result<std::unique_ptr<GpuWorker>> WorkerPool::take() {
  std::unique_ptr<GpuWorker> worker;
  bool greeted = false;
  {
    const std::lock_guard lock(mutex_);
    greeted = !ready_.empty();
    auto& from = greeted ? ready_ : starting_;
    if (!from.empty()) {
      worker = std::move(from.front());
      from.pop_front();
    }
  }
  if (!worker) {
    KERF_TRY(worker, start());
  }
  refill();
  if (!greeted) KERF_TRY_VOID(make_ready(*worker));
  return worker;
}

void WorkerPool::give_back(std::unique_ptr<GpuWorker> worker) {
  const auto request = worker::Writer().put(Command::reset).bytes();
  if (!worker->process().send(request)) return;
  const auto answer = worker->process().receive(kStartLimit);
  if (!answer || worker::Reader(*answer).get<Answer>() != Answer::ok) return;
  const std::lock_guard lock(mutex_);
  if (ready_.size() < static_cast<std::size_t>(std::max(1, options_.spares))) ready_.push_back(std::move(worker));
}

void WorkerPool::keep_spares() {
  {
    const std::lock_guard lock(mutex_);
    if (spares_wanted_) return;
    spares_wanted_ = true;
  }
  refill();
}

void WorkerPool::refill() {
  const std::lock_guard lock(mutex_);
  while (spares_wanted_ && static_cast<int>(ready_.size() + starting_.size()) < options_.spares) {
    auto worker = start();
    if (!worker) return;  // the next take reports it
    starting_.push_back(*std::move(worker));
  }
}

}  // namespace kerf::cuda
