// The device's counters over calls of a kernel, for those who want to make it faster.

#include <algorithm>
#include <mutex>

#include "judge/judge.hpp"
#include "measure/counters.hpp"

namespace kerf {
namespace {

constexpr int kCountedCalls = 4;  // each on data of its own, so that no call finds the last one's in the cache

}  // namespace

Result<std::optional<Counters>> Judge::count(const Candidate& candidate, const Bindings& tunables) {
  const auto main = std::ranges::max_element(shapes_, {}, &ShapeSet::weight);
  if (main == shapes_.end() || main->weight <= 0) return std::optional<Counters>{};
  const auto shape = static_cast<std::size_t>(main - shapes_.begin());
  NullObserver silent;
  Trial trial = make_trial(candidate, tunables, silent);
  KERF_TRY(ShapeContext* const context, this->context(shape, silent));
  KERF_TRY(const auto loaded, load(trial, shape, Gate::timing));
  if (!std::holds_alternative<KernelHandle>(loaded)) return std::optional<Counters>{};
  const KernelHandle handle = std::get<KernelHandle>(loaded);
  const std::vector<const oracle::DataSet*> data = context->timed();
  std::vector<int> slots;
  for (int slot = 0; slot < std::min(kCountedCalls, context->slots()); ++slot) slots.push_back(slot);
  context->bench().expect(handle, slots);
  for (const int slot : slots)
    KERF_TRY_VOID(context->bench().stage(slot, *data[static_cast<std::size_t>(slot) % data.size()], Poison::a));
  std::unique_lock quiet(quiet_);
  auto counted = context->bench().count(handle, slots, call_limit(*context) * kCountedCalls);
  quiet.unlock();
  if (counted && std::holds_alternative<Fault>(*counted)) {
    KERF_TRY_VOID(after_fault(trial, shape, refusal_from(std::get<Fault>(*counted), Gate::timing)));
    return std::optional<Counters>{};
  }
  unload(trial);
  if (!counted) return tl::unexpected<Error>(counted.error());
  return std::optional(
      counters_of(std::get<Counted>(*counted), tools_.target.device->facts(), peaks_ ? &*peaks_ : nullptr));
}

}  // namespace kerf
