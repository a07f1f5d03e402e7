#include "device/cuda/bench.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "device/cuda/plan_numbers.hpp"

namespace kerf::cuda {
namespace {

using worker::Reader;
using worker::Writer;

constexpr std::chrono::milliseconds kCommandLimit{60000};
constexpr std::chrono::milliseconds kLoadLimit{20000};

std::uint64_t number(int value) { return static_cast<std::uint64_t>(value); }

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
}

Status CudaBench::stage(int slot, const oracle::DataSet& data, Poison poison) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    KERF_TRY_VOID(ensure_resident(data));
    Writer request;
    request.put(Command::stage).put(number(slot)).put(data.id).put(number(inputs()));
    request.put(static_cast<std::uint64_t>(poison));
    KERF_TRY(const Reply reply, call(request.bytes(), kCommandLimit));
    if (reply.answer != Answer::spoiled) return expect_ok(reply, "staging");
    KERF_TRY_VOID(drop_data(data.id));  // an earlier kernel wrote there; bring it again
  }
  return fail(Errc::unavailable,
              fmt::format("staging on {}: the data set does not stay as it was uploaded", facts_.id));
}

Result<RunOutcome> CudaBench::run(KernelHandle kernel, std::span<const int> slots, std::chrono::milliseconds limit) {
  if (!kernels_.contains(kernel))
    return fail(Errc::invalid_input, "the kernel is not loaded (its worker was replaced)");
  Writer request;
  request.put(Command::run).put(number(kernel)).put<std::uint64_t>(slots.size());
  for (const int slot : slots) request.put(number(slot));
  const auto begin = clock_.now();
  if (auto sent = send(request.bytes()); !sent) return RunOutcome(Fault{Fault::Kind::crashed, sent.error().message});
  const auto reply = receive(limit);
  const double wall_us = static_cast<double>((clock_.now() - begin).count()) / 1000.0;
  if (!reply && reply.error().code == Errc::timeout) {
    return RunOutcome(Fault{Fault::Kind::timed_out, fmt::format("still running after {} ms", limit.count())});
  }
  if (!reply) return RunOutcome(Fault{Fault::Kind::crashed, reply.error().message});
  if (reply->answer == Answer::refused) return fail(Errc::invalid_input, reply->text());
  if (reply->answer != Answer::ok) {
    lose_worker();
    return RunOutcome(Fault{Fault::Kind::crashed, reply->text()});
  }
  auto body = reply->body();
  Timing timing;
  timing.device_us = body.get<double>();
  const double delay_us = body.get<double>();
  timing.host_us = wall_us - delay_us;  // the judge's own delay is no work of the candidate
  return RunOutcome(timing);
}

Result<SlotReport> CudaBench::check(int slot, const oracle::DataSet& data) {
  bool spoiled = false;
  for (int attempt = 0; attempt < 3; ++attempt) {
    KERF_TRY_VOID(ensure_resident(data));
    KERF_TRY(const auto arrays, arrays_of(data));
    if (arrays.size() == static_cast<std::size_t>(inputs()) && outputs() > 0)
      return fail(Errc::invalid_input, "the data set has no expected values to check against");
    Writer request;
    request.put(Command::check)
        .put(number(slot))
        .put(data.id)
        .put(number(inputs()))
        .put<std::uint64_t>(data.nan_is_free);
    request.put(number(outputs()));
    for (int o = 0; o < outputs(); ++o) {
      const auto& expected = arrays[expected_array(number(inputs()), number(o))];
      const auto& bound = arrays[bound_array(number(inputs()), number(o))];
      const auto& buffer = layout_.buffers[static_cast<std::size_t>(inputs() + o)];
      request.put(number(inputs() + o)).put(static_cast<std::uint64_t>(buffer.dtype)).put(expected.bytes / 8);
      request.put<std::uint64_t>(bound.form == Array::Form::wide_bound);
      request.put(expected.key).put(derive("masks of bounds")).put(derive("masks"));
      const oracle::Allowance allowance = data.allowance(static_cast<std::size_t>(o));
      const oracle::Negligible floor = oracle::negligible(buffer.dtype, allowance);
      request.put(allowance.most).put(allowance.unit).put(floor.relative).put(floor.absolute);
    }
    KERF_TRY(const Reply reply, call(request.bytes(), kCommandLimit));
    KERF_TRY_VOID(expect_ok(reply, "checking"));
    bool spoiled_now = false;
    KERF_TRY(SlotReport found, report(reply, data, spoiled_now));
    spoiled |= spoiled_now;
    if (!spoiled_now) {
      // Sound when it was staged and spoiled now: a kernel that ran in between wrote there.
      if (spoiled) found.broken_red_zones.push_back("memory of the judge");
      suspect_ |= !found.broken_red_zones.empty();
      return found;
    }
    KERF_TRY_VOID(drop_data(data.id));
  }
  return fail(Errc::unavailable,
              fmt::format("checking on {}: the data set does not stay as it was uploaded", facts_.id));
}

Result<SlotReport> CudaBench::report(const Reply& reply, const oracle::DataSet& data, bool& spoiled) const {
  SlotReport report;
  auto body = reply.body();
  if (body.count() != number(outputs())) return fail(Errc::unavailable, "the GPU worker sent a malformed answer");
  const auto& sums = resident_.front().sums;  // the data set was just used
  for (int o = 0; o < outputs(); ++o) {
    oracle::CompareStats stats;
    const auto at = static_cast<std::size_t>(o);
    const auto& buffer = layout_.buffers[static_cast<std::size_t>(inputs() + o)];
    stats.total = static_cast<std::int64_t>(bytes_of(buffer) / dtype_size(buffer.dtype));
    stats.compared = static_cast<std::int64_t>(body.get<std::uint64_t>());
    stats.wrong = static_cast<std::int64_t>(body.get<std::uint64_t>());
    stats.squares_count = static_cast<std::int64_t>(body.get<std::uint64_t>());
    stats.sum_squares = body.get<double>();
    const double ratio = body.get<double>();
    const auto worst = body.get<std::uint64_t>();
    const double actual = body.get<double>(), expected = body.get<double>(), bound = body.get<double>();
    stats.largest = body.get<double>();
    stats.worst_run = body.get<double>();
    spoiled |= body.get<std::uint64_t>() != sums[expected_array(number(inputs()), number(o))];
    spoiled |= body.get<std::uint64_t>() != sums[bound_array(number(inputs()), number(o))];
    for (auto& count : stats.octaves) count = static_cast<std::int64_t>(body.get<std::uint64_t>());
    if (worst < static_cast<std::uint64_t>(stats.total)) {
      stats.worst = static_cast<std::int64_t>(worst);
      stats.worst_ratio = ratio;
      stats.worst_actual = actual;
      stats.worst_expected = expected;
      // Device copies of bounds are rounded up to floats.
      stats.worst_bound = at < data.bound.size() ? data.bound[at].as<double>()[worst] : bound;
    }
    report.outputs.push_back(stats);
  }
  const auto name = [&](std::uint64_t index) {
    return index < layout_.buffers.size() ? layout_.buffers[index].name : std::string("?");
  };
  for (auto left = body.count(); left > 0; --left) report.changed_inputs.push_back(name(body.get<std::uint64_t>()));
  for (auto left = body.count(); left > 0; --left) report.broken_red_zones.push_back(name(body.get<std::uint64_t>()));
  for (auto left = body.count(); left > 0; --left) {
    const auto it = kernels_.find(static_cast<KernelHandle>(body.get<std::uint64_t>()));
    const auto index = body.get<std::uint64_t>();
    const bool known = it != kernels_.end() && index < it->second.scratch.size();
    report.broken_red_zones.push_back(known ? it->second.scratch[index] : "scratch");
  }
  if (!body.ok()) return fail(Errc::unavailable, "the GPU worker sent a malformed answer");
  return report;
}

Result<ir::HostTensor> CudaBench::read_output(int slot, int output) {
  if (output < 0 || output >= outputs()) return fail(Errc::invalid_input, "no such output");
  const auto& buffer = layout_.buffers[static_cast<std::size_t>(inputs() + output)];
  auto tensor = ir::make_tensor(buffer.dtype, buffer.shape);
  for (std::uint64_t at = 0; at < tensor.bytes.size();) {
    const auto bytes = std::min<std::uint64_t>(kStagingBytes, tensor.bytes.size() - at);
    Writer request;
    request.put(Command::read)
        .put(number(slot))
        .put(number(inputs() + output))
        .put(at)
        .put<std::uint64_t>(0)
        .put(bytes);
    KERF_TRY_VOID(command(request, "reading an output"));
    std::memcpy(tensor.bytes.data() + at, worker_->staging(), bytes);
    at += bytes;
  }
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
