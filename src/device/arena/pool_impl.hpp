#pragma once
// Inside of ArenaPool.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "device/arena/arena_bench.hpp"
#include "sandbox/unique_fd.hpp"

namespace kerf {

struct ArenaPool::Impl {
  struct Worker {
    std::unique_ptr<SandboxProcess> process;
    UniqueFd socket;  ///< closing it ends an idle worker
  };

  Impl(Sandbox& the_sandbox, Clock& the_clock, ArenaPoolOptions the_options)
      : sandbox(the_sandbox), clock(the_clock), options(std::move(the_options)) {}

  /// A spare worker if one is alive, else a new one. Thread-safe.
  Result<Worker> acquire();
  /// Starts spare workers up to the wished number; failures show when one is needed. Thread-safe.
  void replenish();

  /// Another number for every loaded kernel. Thread-safe.
  std::uint64_t next_turn() { return ++turn_; }

  Sandbox& sandbox;
  Clock& clock;
  const ArenaPoolOptions options;

 private:
  Result<Worker> start_worker();

  std::atomic<std::uint64_t> turn_{0};
  std::mutex mutex_;
  std::vector<Worker> spares_;  // guarded by mutex_
};

}  // namespace kerf
