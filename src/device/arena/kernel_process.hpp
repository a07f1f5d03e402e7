#pragma once
// One loaded kernel, seen from the judge: its worker process and the memory that is its own.

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "device/arena/pool_impl.hpp"
#include "device/arena/protocol.hpp"
#include "device/arena/shared_memory.hpp"
#include "device/device.hpp"

namespace kerf::arena {

class KernelProcess {
 public:
  struct Scratch {
    std::vector<std::string> names;
    std::vector<std::int64_t> bytes;
  };

  /// The process is stopped when this returns a kernel. `message.scratch` is filled in here.
  static Result<std::variant<std::unique_ptr<KernelProcess>, Fault>> load(ArenaPool::Impl& pool,
                                                                          const SharedMemory& arena,
                                                                          LoadMessage message, Scratch scratch,
                                                                          const Artifact& artifact);

  /// Resumes the process, has it carry out `action`, stops it again. After a Fault the process is gone.
  Result<RunOutcome> execute(Action action, std::span<const int> slots, std::chrono::milliseconds limit);

  /// Maps the pages of a place in the worker while it is stopped, so that its first call does not pay for it. Best
  /// effort.
  void fault_in(const Place& place);

  void fill_scratch(Poison poison);
  std::vector<std::string> broken_scratch() const;  ///< names of scratch buffers with writes outside their bounds

 private:
  KernelProcess(ArenaPool::Impl& pool, ArenaPool::Impl::Worker worker) : pool_(pool), worker_(std::move(worker)) {}

  enum class Wait { done, ended, timed_out };
  Wait wait_for(std::uint32_t command, std::chrono::nanoseconds deadline);
  Fault explain_end();
  Control& control() const { return *reinterpret_cast<Control*>(memory_.data()); }

  ArenaPool::Impl& pool_;
  ArenaPool::Impl::Worker worker_;
  SharedMemory memory_;             // control page and scratch
  std::vector<Place> places_;       // of scratch, in memory_
  std::vector<std::string> names_;  // of scratch
  Poison poison_ = Poison::a;
  std::uint32_t command_ = kLoadCommand;
  std::uint64_t arena_address_ = 0;  // in the worker, as it said before it loaded the candidate's code
  std::int64_t arena_bytes_ = 0;
};

/// Text from a worker: printable, of bounded length.
std::string clean_text(std::string_view text);

}  // namespace kerf::arena
