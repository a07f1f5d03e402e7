#include "verify/verify.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "base/rng.hpp"

namespace kerf {

Result<std::optional<Refusal>> verify_call(Bench& bench, KernelHandle kernel, int slot, const oracle::DataSet& data,
                                           Poison poison, const std::vector<BufferSpec>& outputs,
                                           const VerifyOptions& options, double* us, int threads) {
  const std::array<int, 1> slots{slot};
  bench.expect(kernel, slots);
  KERF_TRY_VOID(bench.stage(slot, data, poison));
  const CallManner manner{CallManner::Guest::none, threads};
  KERF_TRY(const RunOutcome outcome, threads > 0 ? bench.run_as(kernel, slot, manner, options.call_limit)
                                                 : bench.run(kernel, slots, options.call_limit));
  if (const auto* fault = std::get_if<Fault>(&outcome)) return refusal_from(*fault, options.gate);
  if (const auto& timing = std::get<Timing>(outcome); us != nullptr)
    *us = timing.device_us > 0 ? timing.device_us : timing.host_us;
  KERF_TRY(const SlotReport report, bench.check(slot, data));
  auto refusal = judge_slot(report, data, outputs);
  if (refusal) add_wrong_box(*refusal, bench, slot, data, outputs);
  return refusal;
}

namespace {

/// Repeated calls of one batch; fewer for slow kernels.
constexpr int kRepeats = 8;
constexpr double kRepeatBudgetUs = 100'000;

/// Slots that verification uses: few, so that every address comes back with other data.
constexpr int kSlots = 4;

/// As it is, or another number of threads than usual: one, few, one more than there are cores.
int some_threads(int cores, Rng& rng) {
  const int choices[] = {0, 0, 0, 0, 1, 2, 3, cores + 1};
  return cores > 0 ? choices[rng.integer(0, std::ssize(choices) - 1)] : 0;
}

std::vector<int> some_slots(int slots, Rng& rng) {
  std::vector<int> all(static_cast<std::size_t>(slots));
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    std::swap(all[i], all[static_cast<std::size_t>(rng.integer(static_cast<std::int64_t>(i), slots - 1))]);
  all.resize(static_cast<std::size_t>(std::min(slots, kSlots)));
  return all;
}

Result<std::optional<Refusal>> verify_batch(Bench& bench, KernelHandle kernel,
                                            const std::vector<const oracle::DataSet*>& data,
                                            const std::vector<int>& slots, double call_us,
                                            const std::vector<BufferSpec>& outputs, const VerifyOptions& options) {
  if (slots.size() < 2) return std::nullopt;
  const int repeats = std::clamp(static_cast<int>(kRepeatBudgetUs / std::max(call_us, 1.0)), 1, kRepeats);
  std::vector<int> calls(static_cast<std::size_t>(repeats), slots[0]);
  calls.insert(calls.end(), slots.begin() + 1, slots.end());
  const auto at = [&](std::size_t i) -> const oracle::DataSet& { return *data[i % data.size()]; };
  bench.expect(kernel, slots);
  for (std::size_t i = 0; i < slots.size(); ++i)
    KERF_TRY_VOID(bench.stage(slots[i], at(i), i % 2 == 0 ? Poison::b : Poison::a));
  KERF_TRY(const RunOutcome outcome, bench.run(kernel, calls, options.call_limit * static_cast<int>(calls.size())));
  if (const auto* fault = std::get_if<Fault>(&outcome)) return refusal_from(*fault, options.gate);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    KERF_TRY(const SlotReport report, bench.check(slots[i], at(i)));
    auto refusal = judge_slot(report, at(i), outputs);
    if (!refusal) continue;
    add_wrong_box(*refusal, bench, slots[i], at(i), outputs);
    if (auto* wrong = std::get_if<WrongResult>(&*refusal)) wrong->message += " (in a batch of repeated calls)";
    return refusal;
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
  const std::vector<int> used = some_slots(slots, rng);
  const int first = static_cast<int>(rng.integer(0, 1));
  double call_us = 0;
  std::vector<const oracle::DataSet*> calls = data;
  if (!calls.empty()) calls.insert(calls.begin(), calls.front());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Poison poison = (static_cast<int>(i) + first) % 2 == 0 ? Poison::a : Poison::b;
    const int slot = used[i % used.size()];
    const int threads = some_threads(options.cores, rng);
    double us = 0;
    KERF_TRY(auto refusal, verify_call(bench, kernel, slot, *calls[i], poison, outputs, options, &us, threads));
    if (threads == 0 || call_us == 0) call_us = us;
    if (shortest_us != nullptr) *shortest_us = i == 0 ? us : std::min(*shortest_us, us);
    if (!refusal) continue;
    if (auto* wrong = std::get_if<WrongResult>(&*refusal); wrong != nullptr && threads > 0)
      wrong->message += fmt::format(" (with {} OpenMP threads)", threads);
    return refusal;
  }
  return verify_batch(bench, kernel, data, used, call_us, outputs, options);
}

}  // namespace kerf
