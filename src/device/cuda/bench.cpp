#include "device/cuda/bench.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "device/cuda/concrete_plan.hpp"

namespace kerf::cuda {
namespace {

using worker::Reader;
using worker::Writer;

constexpr std::chrono::milliseconds kLoadLimit{20000};

}  // namespace

Reader Reply::body() const {
  Reader reader(bytes);
  (void)reader.get<Answer>();
  return reader;
}

CudaBench::CudaBench(WorkerPool& pool, Clock& clock, const DeviceFacts& facts, const CudaDeviceOptions& options,
                     ProblemLayout layout)
    : pool_(pool), clock_(clock), facts_(facts), options_(options), layout_(std::move(layout)) {
  inputs_ = static_cast<int>(std::count_if(layout_.buffers.begin(), layout_.buffers.end(),
                                           [](const BufferSpec& buffer) { return buffer.role == BufferRole::input; }));
  mask_key_ = derive("masks");
  bound_mask_key_ = derive("masks of bounds");
  pool_.add(*this);
}

CudaBench::~CudaBench() {
  pool_.remove(*this);
  if (worker_) pool_.give_back(std::move(worker_));
}

Status CudaBench::start() { return ensure_worker(); }

/// Keys come from the secret through a one-way function: what a kernel can see of one tells nothing about another.
std::uint64_t CudaBench::derive(std::string_view what) const {
  return std::stoull(sha256_hex(fmt::format("{:016x} {}", options_.secret, what)).substr(0, 16), nullptr, 16);
}

void CudaBench::lose_worker() {
  worker_.reset();
  resident_.clear();
  kernels_.clear();
  suspect_ = false;
}

/// A fresh worker with the same kernels under the same handles.
Status CudaBench::renew_worker() {
  const auto kernels = std::move(kernels_);
  lose_worker();
  KERF_TRY_VOID(ensure_worker());
  for (const auto& [handle, kernel] : kernels) {
    KERF_TRY(const Reply reply, call(kernel.request, kLoadLimit));
    KERF_TRY_VOID(expect_ok(reply, "loading a kernel again"));
    kernels_[handle] = kernel;
  }
  return {};
}

Status CudaBench::send(const std::string& request) {
  auto sent = worker_->process().send(request);
  if (!sent) {
    lose_worker();
    return fail(Errc::unavailable, fmt::format("the GPU worker {}", sent.error().message));
  }
  return {};
}

Result<Reply> CudaBench::receive(std::chrono::milliseconds limit) {
  auto answer = worker_->process().receive(limit);
  if (!answer) {
    lose_worker();
    if (answer.error().code == Errc::timeout)
      return fail(Errc::timeout, fmt::format("no answer after {} ms", limit.count()));
    return fail(Errc::unavailable, fmt::format("the GPU worker {}", answer.error().message));
  }
  Reply reply{Answer::ok, *std::move(answer)};
  Reader reader(reply.bytes);
  reply.answer = reader.get<Answer>();
  if (!reader.ok()) {
    lose_worker();
    return fail(Errc::unavailable, "the GPU worker sent a malformed answer");
  }
  if (reply.answer == Answer::broken) lose_worker();
  return reply;
}

Result<Reply> CudaBench::call(const std::string& request, std::chrono::milliseconds limit) {
  KERF_TRY_VOID(ensure_worker());
  KERF_TRY_VOID(send(request));
  return receive(limit);
}

Status CudaBench::expect_ok(const Reply& reply, const char* doing) {
  if (reply.answer == Answer::ok) return {};
  const auto code = reply.answer == Answer::refused ? Errc::invalid_input : Errc::unavailable;
  return fail(code, fmt::format("{} on {}: {}", doing, facts_.id, reply.text()));
}

Status CudaBench::command(const Writer& request, const char* doing) {
  KERF_TRY(const Reply reply, call(request.bytes(), kCommandLimit));
  return expect_ok(reply, doing);
}

Status CudaBench::ensure_worker() {
  if (worker_) return {};
  KERF_TRY(worker_, pool_.take());
  Writer request;
  request.put(Command::layout).put(derive("red zones")).put(derive("sums")).put(number(layout_.slots));
  request.put<std::uint64_t>(layout_.buffers.size());
  for (const auto& buffer : layout_.buffers) request.put(bytes_of(buffer));
  KERF_TRY_VOID(send(request.bytes()));
  KERF_TRY(Reply reply, receive(kCommandLimit));
  if (reply.answer == Answer::out_of_memory) {
    pool_.make_room_for(*this);
    KERF_TRY_VOID(send(request.bytes()));
    KERF_TRY(reply, receive(kCommandLimit));
  }
  auto made = expect_ok(reply, "making the buffers");
  if (!made) lose_worker();
  return made;
}

Result<std::variant<KernelHandle, Fault>> CudaBench::load(const Artifact& artifact, const LaunchPlan& plan,
                                                          const Bindings& constants) {
  using Outcome = std::variant<KernelHandle, Fault>;
  if (plan.launches.empty()) return fail(Errc::invalid_input, "a CUDA candidate needs at least one `launch:` line");
  std::vector<std::string> names;
  for (const auto& buffer : layout_.buffers) names.push_back(buffer.name);
  auto numbers = evaluate_plan(plan, constants, names);
  if (!numbers && numbers.error().code == Errc::tool_failed) {
    return Outcome(Fault{Fault::Kind::crashed, numbers.error().message});
  }
  if (!numbers) return tl::unexpected<Error>(std::move(numbers).error());
  const KernelHandle handle = next_handle_++;
  Writer request;
  request.put(Command::load).put(number(handle)).text(artifact.bytes).put<std::uint64_t>(numbers->scratch_bytes.size());
  for (const auto bytes : numbers->scratch_bytes) request.put(bytes);
  request.put<std::uint64_t>(numbers->launches.size());
  for (const auto& launch : numbers->launches) write(request, launch);
  if (suspect_) KERF_TRY_VOID(renew_worker());
  KERF_TRY_VOID(ensure_worker());
  auto reply = call(request.bytes(), kLoadLimit);
  if (!reply) {
    const auto kind = reply.error().code == Errc::timeout ? Fault::Kind::timed_out : Fault::Kind::crashed;
    return Outcome(Fault{kind, fmt::format("while loading: {}", reply.error().message)});
  }
  while (reply->answer == Answer::out_of_memory) {  // data sets can be brought again
    KERF_TRY(const bool freed, freed_memory());
    if (!freed) break;
    KERF_TRY(reply, call(request.bytes(), kLoadLimit));
  }
  if (reply->answer != Answer::ok) return Outcome(Fault{Fault::Kind::crashed, reply->text()});
  kernels_[handle] = {std::move(numbers->scratch_names), request.bytes()};
  return Outcome(handle);
}

void CudaBench::unload(KernelHandle kernel) {
  if (kernels_.erase(kernel) == 0 || !worker_) return;
  (void)command(Writer().put(Command::unload).put(number(kernel)), "unloading");
  if (++unloaded_ > 1) pool_.keep_spares();  // the first is the plain kernel that says what is honest
}

Status CudaBench::read_buffer(int slot, int buffer, std::span<std::byte> bytes) {
  for (std::uint64_t at = 0; at < bytes.size();) {
    const auto piece = std::min<std::uint64_t>(kStagingBytes, bytes.size() - at);
    Writer request;
    request.put(Command::read).put(number(slot)).put(number(buffer)).put(at).put<std::uint64_t>(0).put(piece);
    KERF_TRY_VOID(command(request, "reading a buffer"));
    std::memcpy(bytes.data() + at, worker_->staging(), piece);
    at += piece;
  }
  return {};
}

Result<ir::HostTensor> CudaBench::read_output(int slot, int output) {
  if (output < 0 || output >= outputs()) return fail(Errc::invalid_input, "no such output");
  const auto& buffer = layout_.buffers[static_cast<std::size_t>(inputs() + output)];
  auto tensor = ir::make_tensor(buffer.dtype, buffer.shape);
  KERF_TRY_VOID(read_buffer(slot, inputs() + output, tensor.bytes));
  return tensor;
}

Status CudaBench::write_output(int slot, int output, std::span<const std::byte> bytes) {
  if (output < 0 || output >= outputs()) return fail(Errc::invalid_input, "no such output");
  if (bytes.size() != bytes_of(layout_.buffers[static_cast<std::size_t>(inputs() + output)]))
    return fail(Errc::invalid_input, "the result has another size than the output");
  KERF_TRY_VOID(ensure_worker());
  for (std::uint64_t at = 0; at < bytes.size();) {
    const auto piece = std::min<std::uint64_t>(kStagingBytes, bytes.size() - at);
    std::memcpy(worker_->staging(), bytes.data() + at, piece);
    Writer request;
    request.put(Command::write)
        .put(number(slot))
        .put(number(inputs() + output))
        .put(at)
        .put<std::uint64_t>(0)
        .put(piece);
    KERF_TRY_VOID(command(request, "writing an output"));
    at += piece;
  }
  return {};
}

}  // namespace kerf::cuda
