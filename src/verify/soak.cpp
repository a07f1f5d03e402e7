#include "verify/soak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace kerf {
namespace {

constexpr int kLargestBatch = 4;

void say_when(Refusal& refusal, const SoakOptions& options, std::int64_t call) {
  const char* const which = options.brief ? "many alike: a race?" : "the soak";
  const std::string words = fmt::format(" (call {} of {})", call, which);
  std::visit([&](auto& refused) { refused.message += words; }, refusal);
  if (auto* wrong = std::get_if<WrongResult>(&refusal); wrong && !options.brief) wrong->gate = Gate::soak;
}

}  // namespace

Result<SoakResult> soak(Bench& bench, KernelHandle kernel, const std::vector<const oracle::DataSet*>& data, int slots,
                        const std::vector<BufferSpec>& outputs, const SoakOptions& options, Clock& clock, Rng& rng) {
  SoakResult result;
  const Nanoseconds end = clock.now() + options.budget;
  std::vector<int> order(static_cast<std::size_t>(slots));
  std::iota(order.begin(), order.end(), 0);
  do {
    const bool alone = rng.integer(0, 1) == 0;
    const auto batch = static_cast<std::size_t>(alone ? 1 : rng.integer(1, std::min(slots, kLargestBatch)));
    for (std::size_t i = 0; i < batch; ++i)
      std::swap(order[i], order[static_cast<std::size_t>(rng.integer(static_cast<std::int64_t>(i), slots - 1))]);
    std::vector<const oracle::DataSet*> used;
    std::vector<BenchStep> steps;
    for (std::size_t i = 0; i < batch; ++i) {
      used.push_back(data[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(data.size()) - 1))]);
      steps.emplace_back(StageStep{order[i], used[i], rng.integer(0, 1) == 0 ? Poison::a : Poison::b});
    }
    RunStep run{{order.begin(), order.begin() + static_cast<std::ptrdiff_t>(batch)},
                options.verify.call_limit * static_cast<int>(batch),
                false};
    if (alone && options.max_threads > 0) run.manner.threads = static_cast<int>(rng.integer(1, options.max_threads));
    steps.emplace_back(std::move(run));
    for (std::size_t i = 0; i < batch; ++i) steps.emplace_back(CheckStep{order[i], used[i]});
    KERF_TRY(const auto outcome, bench.follow(kernel, steps));
    if (const auto* fault = std::get_if<Fault>(&outcome)) {
      result.refusal = refusal_from(*fault, options.verify.gate);
      say_when(*result.refusal, options, result.calls + 1);
      return result;
    }
    for (std::size_t i = 0; i < batch; ++i) {
      const SlotReport& report = std::get<StepResults>(outcome).checks[i];
      result.refusal = judge_slot(report, *used[i], outputs);
      ++result.calls;
      if (!result.refusal) continue;
      add_wrong_box(*result.refusal, bench, order[i], *used[i], outputs);
      say_when(*result.refusal, options, result.calls);
      return result;
    }
  } while (clock.now() < end && result.calls < options.max_calls);
  return result;
}

}  // namespace kerf
