#include "verify/guest.hpp"

#include <algorithm>
#include <vector>

namespace kerf {
namespace {

using Guest = CallManner::Guest;

const char* manner_words(Guest guest) {
  switch (guest) {
    case Guest::none: return "";
    case Guest::at_the_end: return "with buffers that end at an unmapped page";
    case Guest::off_by_one: return "with buffers that are aligned to their elements only";
    case Guest::as_allocated: return "with buffers where an allocator puts large blocks";
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

constexpr double kLongCallUs = 20'000;           // not repeated: a leak would cost too much time to find
constexpr double kQuickCallUs = 400;             // repeated on every shape
constexpr std::int64_t kManyBytes = 16LL << 20;  // copied once, where the shape is not the smallest

std::vector<Guest> manners_of(const GuestVisit& visit) {
  if (visit.smallest) return {Guest::at_the_end, Guest::off_by_one, Guest::as_allocated, Guest::repeated};
  if (visit.slot_bytes > kManyBytes) return {Guest::off_by_one};
  std::vector<Guest> manners{Guest::at_the_end, Guest::off_by_one, Guest::as_allocated};
  if (visit.call_us < kQuickCallUs) manners.push_back(Guest::repeated);
  return manners;
}

/// Repeated calls have one thread: what other threads leave on their stacks is not wiped in between. The first call has
/// more than a kernel would have seen on this machine: whoever counts on a few has too little room for them.
int threads_of(Guest guest, int cores) {
  constexpr int kMany = 17;
  if (guest == Guest::repeated) return 1;
  return guest == Guest::at_the_end ? std::max(kMany, 2 * cores + 1) : 0;
}

}  // namespace

Result<std::optional<Refusal>> verify_guest(Bench& bench, KernelHandle kernel, int slot, const oracle::DataSet& checked,
                                            const std::vector<BufferSpec>& outputs, const GuestVisit& visit,
                                            const VerifyOptions& options) {
  Poison poison = Poison::a;
  double us = 0;
  for (const Guest guest : manners_of(visit)) {
    if (guest == Guest::repeated && us > kLongCallUs) break;
    poison = poison == Poison::a ? Poison::b : Poison::a;
    KERF_TRY_VOID(bench.stage(slot, checked, poison));
    const int threads = threads_of(guest, options.cores);
    const bool flushes = guest == Guest::off_by_one && visit.flushes;
    KERF_TRY(const RunOutcome outcome, bench.run_as(kernel, slot, {guest, threads, flushes}, options.call_limit * 2));
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
