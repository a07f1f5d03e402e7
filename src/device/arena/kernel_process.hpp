#pragma once
// One loaded kernel, seen from the judge: its worker process and the memory that is its own: slots, scratch, control.

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "device/arena/pool_impl.hpp"
#include "device/arena/protocol.hpp"
#include "device/arena/shared_memory.hpp"
#include "device/arena/slot_memory.hpp"
#include "device/arena/zones.hpp"
#include "device/device.hpp"

namespace kerf::arena {

class KernelProcess {
 public:
  struct Scratch {
    std::vector<std::string> names;
    std::vector<std::int64_t> bytes;
  };

  /// The process is stopped when this returns a kernel. Where slots and scratch lie in `message` is filled in here.
  static Result<std::variant<std::unique_ptr<KernelProcess>, Fault>> load(ArenaPool::Impl& pool, const SlotShape& shape,
                                                                          int slots, LoadMessage message,
                                                                          Scratch scratch, const Artifact& artifact);

  SlotMemory& slots() { return slots_; }
  const SlotMemory& slots() const { return slots_; }

  /// Resumes the process, has it carry out `action`, stops it again. After a Fault the process is gone.
  Result<RunOutcome> execute(Action action, std::span<const int> slots, std::chrono::milliseconds limit,
                             const CallManner& manner = {});

  /// The same for runs, under the kernel's performance counters, which are opened while the process is stopped and from
  /// outside of it. The first slot's call comes before and does not count, unless it is the only one.
  Result<std::variant<Counted, Fault>> count(std::span<const int> slots, std::chrono::milliseconds limit);

  /// Maps the pages of a slot in the worker while it is stopped, so that its first call does not pay for it. Best
  /// effort.
  void fault_in(int slot);

  void fill_scratch(Poison poison);
  std::vector<std::string> broken_scratch() const;  ///< names of scratch buffers with writes outside their bounds

 private:
  KernelProcess(ArenaPool::Impl& pool, ArenaPool::Impl::Worker worker) : pool_(pool), worker_(std::move(worker)) {}

  enum class Wait { done, ended, timed_out };
  /// After a call as a guest: whether many calls left many more threads than one call did. OpenMP's own wait for the
  /// next call, and there are as many after every call.
  bool leaves_threads(CallManner::Guest guest);
  Wait wait_for(std::uint32_t command, std::chrono::nanoseconds deadline);
  Fault explain_end();
  Control& control() const { return *reinterpret_cast<Control*>(control_.data()); }
  void fault_in(std::int64_t first, std::int64_t bytes);

  ArenaPool::Impl& pool_;
  ArenaPool::Impl::Worker worker_;
  SlotMemory slots_;
  SharedMemory control_, scratch_;
  std::vector<Place> places_;       // of scratch
  std::vector<std::string> names_;  // of scratch
  Poison poison_ = Poison::a;
  std::uint32_t command_ = kLoadCommand;
  int threads_after_a_call_ = 0;     // as a guest; 0: not known
  std::uint64_t arena_address_ = 0;  // in the worker, as it said before it loaded the candidate's code
  ZoneSpread spread_;                // of the slots, from there on
};

/// Text from a worker: printable, of bounded length.
std::string clean_text(std::string_view text);

}  // namespace kerf::arena
