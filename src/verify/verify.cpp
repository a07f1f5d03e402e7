#include "verify/verify.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "base/rng.hpp"

namespace kerf {

namespace {

double time_of(const Timing& timing) { return timing.device_us > 0 ? timing.device_us : timing.host_us; }

/// A call by itself: staged, made, checked.
struct Call {
  int slot = 0;
  const oracle::DataSet* data = nullptr;
  Poison poison = Poison::a;
  int threads = 0;  ///< of OpenMP; 0: as it is
};

void add_steps(std::vector<BenchStep>& steps, const Call& call, const VerifyOptions& options) {
  steps.emplace_back(StageStep{call.slot, call.data, call.poison});
  steps.emplace_back(RunStep{{call.slot}, options.call_limit, false, {CallManner::Guest::none, call.threads}});
  steps.emplace_back(CheckStep{call.slot, call.data});
}

/// The calls one after the other, on slots that all differ: nothing, or the refusal of the first that fails. `us`
/// receives the time of each, `failed`, when given, the number of that call.
Result<std::optional<Refusal>> verify_calls(Bench& bench, KernelHandle kernel, std::span<const Call> calls,
                                            const std::vector<BufferSpec>& outputs, const VerifyOptions& options,
                                            std::vector<double>& us, std::size_t* failed) {
  std::vector<BenchStep> steps;
  std::vector<int> slots;
  for (const Call& call : calls) {
    add_steps(steps, call, options);
    slots.push_back(call.slot);
  }
  bench.expect(kernel, slots);
  KERF_TRY(const auto outcome, bench.follow(kernel, steps));
  if (const auto* fault = std::get_if<Fault>(&outcome)) return refusal_from(*fault, options.gate);
  const auto& results = std::get<StepResults>(outcome);
  for (const Timing& timing : results.runs) us.push_back(time_of(timing));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    auto refusal = judge_slot(results.checks[i], *calls[i].data, outputs);
    if (!refusal) continue;
    add_wrong_box(*refusal, bench, calls[i].slot, *calls[i].data, outputs);
    if (failed != nullptr) *failed = i;
    return refusal;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<Refusal>> verify_call(Bench& bench, KernelHandle kernel, int slot, const oracle::DataSet& data,
                                           Poison poison, const std::vector<BufferSpec>& outputs,
                                           const VerifyOptions& options, double* us, int threads) {
  const std::array<Call, 1> call{Call{slot, &data, poison, threads}};
  std::vector<double> times;
  KERF_TRY(auto refusal, verify_calls(bench, kernel, call, outputs, options, times, nullptr));
  if (us != nullptr && !times.empty()) *us = times.front();
  return refusal;
}

namespace {

/// Calls without anything between them; fewer of slow kernels.
constexpr int kBatchedCalls = 11;

/// Slots that single calls use: few, so that every address comes back with other data.
constexpr int kSlots = 4;

/// As it is, or another number of threads than usual: one, few, one more than there are cores.
int some_threads(int cores, Rng& rng) {
  const int choices[] = {0, 0, 0, 0, 1, 2, 3, cores + 1};
  return cores > 0 ? choices[rng.integer(0, std::ssize(choices) - 1)] : 0;
}

/// `count` of the slots, or all of them, in random order.
std::vector<int> some_slots(int slots, int count, Rng& rng) {
  std::vector<int> all(static_cast<std::size_t>(slots));
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    std::swap(all[i], all[static_cast<std::size_t>(rng.integer(static_cast<std::int64_t>(i), slots - 1))]);
  all.resize(static_cast<std::size_t>(std::min(slots, count)));
  return all;
}

/// One call on each of `calls`, whose slots all differ, with nothing between them; all are compared.
Result<std::optional<Refusal>> verify_batch(Bench& bench, KernelHandle kernel, std::span<const Call> calls,
                                            const std::vector<BufferSpec>& outputs, const VerifyOptions& options) {
  std::vector<BenchStep> steps;
  RunStep run{{}, options.call_limit * static_cast<int>(calls.size()), false};
  for (const Call& call : calls) {
    steps.emplace_back(StageStep{call.slot, call.data, call.poison});
    run.slots.push_back(call.slot);
  }
  bench.expect(kernel, run.slots);
  steps.emplace_back(std::move(run));
  for (const Call& call : calls) steps.emplace_back(CheckStep{call.slot, call.data});
  KERF_TRY(const auto outcome, bench.follow(kernel, steps));
  if (const auto* fault = std::get_if<Fault>(&outcome)) return refusal_from(*fault, options.gate);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    auto refusal = judge_slot(std::get<StepResults>(outcome).checks[i], *calls[i].data, outputs);
    if (!refusal) continue;
    add_wrong_box(*refusal, bench, calls[i].slot, *calls[i].data, outputs);
    if (auto* wrong = std::get_if<WrongResult>(&*refusal)) wrong->message += " (in a batch of repeated calls)";
    return refusal;
  }
  return std::nullopt;
}

/// Batches of calls, as many as the time for repeated calls allows. No slot comes twice in a batch: what a call leaves
/// there would be overwritten before it is compared.
Result<std::optional<Refusal>> verify_batches(Bench& bench, KernelHandle kernel,
                                              const std::vector<const oracle::DataSet*>& data, int slots,
                                              double call_us, const std::vector<BufferSpec>& outputs,
                                              const VerifyOptions& options, Rng& rng) {
  if (slots < 2 || data.empty()) return std::nullopt;
  const double affordable = options.repeat_us / std::max(call_us, 1.0);
  int left = static_cast<int>(std::clamp<double>(affordable, kSlots, kBatchedCalls));
  for (std::size_t number = 0; left > 0;) {
    std::vector<Call> calls;
    for (const int slot : some_slots(slots, left, rng)) {
      calls.push_back({slot, data[number % data.size()], number % 2 == 0 ? Poison::b : Poison::a});
      ++number;
    }
    left -= static_cast<int>(calls.size());
    KERF_TRY(auto refusal, verify_batch(bench, kernel, calls, outputs, options));
    if (refusal) return refusal;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<Refusal>> verify(Bench& bench, KernelHandle kernel,
                                      const std::vector<const oracle::DataSet*>& data, int slots,
                                      const std::vector<BufferSpec>& outputs, const VerifyOptions& options,
                                      double* shortest_us) {
  // The first data set runs under both patterns; after that every call has the other pattern than the one before.
  Rng rng(options.seed);
  const std::vector<int> used = some_slots(slots, kSlots, rng);
  const int first = static_cast<int>(rng.integer(0, 1));
  std::vector<const oracle::DataSet*> order = data;
  if (!order.empty()) order.insert(order.begin(), order.front());
  double call_us = 0;
  // The first call alone: a kernel that never ends is known after one call's time. Processors gain nothing by several.
  const std::size_t together = options.cores > 0 ? 1 : used.size();
  for (std::size_t begin = 0, end = 1; begin < order.size(); begin = end, end += together) {
    std::vector<Call> calls;
    for (std::size_t i = begin; i < std::min(end, order.size()); ++i) {
      const Poison poison = (static_cast<int>(i) + first) % 2 == 0 ? Poison::a : Poison::b;
      calls.push_back({used[i % used.size()], order[i], poison, some_threads(options.cores, rng)});
    }
    std::vector<double> us;
    std::size_t failed = 0;
    KERF_TRY(auto refusal, verify_calls(bench, kernel, calls, outputs, options, us, &failed));
    for (std::size_t i = 0; i < us.size(); ++i) {
      if (calls[i].threads == 0 || call_us == 0) call_us = us[i];
      if (shortest_us != nullptr) *shortest_us = begin + i == 0 ? us[i] : std::min(*shortest_us, us[i]);
    }
    if (!refusal) continue;
    const int threads = calls[failed].threads;
    if (auto* wrong = std::get_if<WrongResult>(&*refusal); wrong != nullptr && threads > 0)
      wrong->message += fmt::format(" (with {} OpenMP threads)", threads);
    return refusal;
  }
  return verify_batches(bench, kernel, data, slots, call_us, outputs, options, rng);
}

}  // namespace kerf
