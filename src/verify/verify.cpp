#include "verify/verify.hpp"

#include <algorithm>
#include <array>

#include "base/rng.hpp"

namespace kerf {

Result<std::optional<Refusal>> verify_call(Bench& bench, KernelHandle kernel, int slot, const oracle::DataSet& data,
                                           Poison poison, const std::vector<BufferSpec>& outputs,
                                           const VerifyOptions& options, double* us) {
  KERF_TRY_VOID(bench.stage(slot, data, poison));
  const std::array<int, 1> slots{slot};
  KERF_TRY(const RunOutcome outcome, bench.run(kernel, slots, options.call_limit));
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

Result<std::optional<Refusal>> verify_batch(Bench& bench, KernelHandle kernel,
                                            const std::vector<const oracle::DataSet*>& data, int slots, double call_us,
                                            const std::vector<BufferSpec>& outputs, const VerifyOptions& options) {
  const int used = std::min(slots, 4);
  if (used < 2) return std::nullopt;
  const int repeats = std::clamp(static_cast<int>(kRepeatBudgetUs / std::max(call_us, 1.0)), 1, kRepeats);
  std::vector<int> calls(static_cast<std::size_t>(repeats), 0);
  for (int slot = 1; slot < used; ++slot) calls.push_back(slot);
  const auto at = [&](int slot) -> const oracle::DataSet& {
    return *data[static_cast<std::size_t>(slot) % data.size()];
  };
  for (int slot = 0; slot < used; ++slot)
    KERF_TRY_VOID(bench.stage(slot, at(slot), slot % 2 == 0 ? Poison::b : Poison::a));
  KERF_TRY(const RunOutcome outcome, bench.run(kernel, calls, options.call_limit * static_cast<int>(calls.size())));
  if (const auto* fault = std::get_if<Fault>(&outcome)) return refusal_from(*fault, options.gate);
  for (int slot = 0; slot < used; ++slot) {
    KERF_TRY(const SlotReport report, bench.check(slot, at(slot)));
    auto refusal = judge_slot(report, at(slot), outputs);
    if (!refusal) continue;
    add_wrong_box(*refusal, bench, slot, at(slot), outputs);
    if (auto* wrong = std::get_if<WrongResult>(&*refusal)) wrong->message += " (in a batch of repeated calls)";
    return refusal;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<Refusal>> verify(Bench& bench, KernelHandle kernel,
                                      const std::vector<const oracle::DataSet*>& data, int slots,
                                      const std::vector<BufferSpec>& outputs, const VerifyOptions& options) {
  // The first data set runs under both patterns; after that every call has the other pattern than the one before.
  Rng rng(options.seed);
  const int turn = static_cast<int>(rng.integer(0, slots - 1)), first = static_cast<int>(rng.integer(0, 1));
  double call_us = 0;
  std::vector<const oracle::DataSet*> calls = data;
  if (!calls.empty()) calls.insert(calls.begin(), calls.front());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Poison poison = (static_cast<int>(i) + first) % 2 == 0 ? Poison::a : Poison::b;
    const int slot = (static_cast<int>(i) + turn) % slots;
    KERF_TRY(auto refusal, verify_call(bench, kernel, slot, *calls[i], poison, outputs, options, &call_us));
    if (refusal) return refusal;
  }
  return verify_batch(bench, kernel, data, slots, call_us, outputs, options);
}

}  // namespace kerf
