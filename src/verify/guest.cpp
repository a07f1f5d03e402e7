#include "verify/guest.hpp"

namespace kerf {
namespace {

using Guest = CallManner::Guest;

const char* manner_words(Guest guest) {
  switch (guest) {
    case Guest::none: return "";
    case Guest::at_the_end: return "with buffers that end at an unmapped page";
    case Guest::off_by_one: return "with buffers that are aligned to their elements only";
    case Guest::repeated: return "several times";
  }
  return "";
}

Refusal refusal_of(const Fault& fault, Guest guest, Gate gate) {
  if (fault.kind != Fault::Kind::crashed) return refusal_from(fault, gate);
  return Rejected{Gate::side_effects,
                  fault.message + " (called " + manner_words(guest) +
                      ", inputs read-only, 8 MiB of stack; docs/formats.md says what a kernel may rely on)"};
}

}  // namespace

Result<std::optional<Refusal>> verify_guest(Bench& bench, KernelHandle kernel, int slot, const oracle::DataSet& checked,
                                            const std::vector<BufferSpec>& outputs, const VerifyOptions& options) {
  constexpr double kLongCallUs = 20'000;  // not repeated: a leak would cost too much time to find
  Poison poison = Poison::a;
  double us = 0;
  for (const Guest guest : {Guest::at_the_end, Guest::off_by_one, Guest::repeated}) {
    if (guest == Guest::repeated && us > kLongCallUs) break;
    poison = poison == Poison::a ? Poison::b : Poison::a;
    KERF_TRY_VOID(bench.stage(slot, checked, poison));
    // Repeated calls have one thread: what other threads leave on their stacks is not wiped in between.
    const int threads = guest == Guest::repeated ? 1 : 0;
    KERF_TRY(const RunOutcome outcome, bench.run_as(kernel, slot, {guest, threads}, options.call_limit * 2));
    if (const auto* fault = std::get_if<Fault>(&outcome)) return refusal_of(*fault, guest, options.gate);
    us = std::get<Timing>(outcome).host_us;
    KERF_TRY(const SlotReport report, bench.check(slot, checked));
    auto refusal = judge_slot(report, checked, outputs);
    if (!refusal) continue;
    add_wrong_box(*refusal, bench, slot, checked, outputs);
    if (auto* wrong = std::get_if<WrongResult>(&*refusal))
      wrong->message += std::string(" (called ") + manner_words(guest) + ")";
    return refusal;
  }
  return std::nullopt;
}

}  // namespace kerf
