#include "verify/verify.hpp"

#include <array>

namespace kerf {

Result<std::optional<Refusal>> verify_call(Bench& bench, KernelHandle kernel, int slot, const CheckedData& checked,
                                           Poison poison, const std::vector<BufferSpec>& outputs,
                                           const VerifyOptions& options) {
  KERF_TRY_VOID(bench.stage(slot, checked.data, poison));
  const std::array<int, 1> slots{slot};
  KERF_TRY(const RunOutcome outcome, bench.run(kernel, slots, options.call_limit));
  if (const auto* fault = std::get_if<Fault>(&outcome)) return refusal_from(*fault, options.gate);
  KERF_TRY(const SlotReport report, bench.check(slot, checked.data));
  auto refusal = judge_slot(report, checked.data, checked.honest, outputs);
  if (refusal) add_wrong_box(*refusal, bench, slot, checked.data, outputs);
  return refusal;
}

Result<std::optional<Refusal>> verify(Bench& bench, KernelHandle kernel, const std::vector<const CheckedData*>& data,
                                      int slots, const std::vector<BufferSpec>& outputs, const VerifyOptions& options) {
  // The first data set runs under both patterns; after that every call has the other pattern than the one before.
  std::vector<const CheckedData*> calls = data;
  if (!calls.empty()) calls.insert(calls.begin(), calls.front());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Poison poison = i % 2 == 0 ? Poison::a : Poison::b;
    const int slot = static_cast<int>(i) % slots;
    KERF_TRY(auto refusal, verify_call(bench, kernel, slot, *calls[i], poison, outputs, options));
    if (refusal) return refusal;
  }
  return std::nullopt;
}

}  // namespace kerf
