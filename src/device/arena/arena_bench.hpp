#pragma once
// The judge's half of devices whose buffers live in host memory, shared with worker processes through a memfd.
//
// - Every loaded kernel runs in a worker process of its own, started by exec (`SELF worker KIND ARGS...`).
// - Slots hold inputs and outputs between red zones and unmapped pages. Every kernel has slots of its own, in a file
// that
//   is made for its process and gone with it. Expected values never enter a slot.
// - A worker is stopped (SIGSTOP, all threads) whenever it is not running a batch; the judge writes and reads slots
//   only then. A "done" told too early, a detached thread or a spinning helper therefore gains nothing: what is not in
//   the outputs when the worker is stopped is not counted, and all time it was not stopped is timed.
// - The judge believes nothing that comes from a worker except that it is time to look.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "device/device.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf {

struct ArenaPoolOptions {
  std::filesystem::path self;                      ///< binary that understands `worker KIND ...`
  std::string kind;                                ///< "cpu", "opencl"
  std::vector<std::string> args;                   ///< further arguments of the worker
  std::map<std::string, std::string> environment;  ///< the worker's whole environment
  std::vector<std::filesystem::path> readable;     ///< beside the system's libraries
  std::vector<std::filesystem::path> writable;
  bool restrict_files = true;                    ///< off for vendor drivers that need device files
  std::int64_t memory_bytes = 4LL << 30;         ///< address space beside the arena; 0: unlimited
  int processes = 512;                           ///< processes and threads of one worker
  bool separate_memory = false;                  ///< the device has its own memory: upload before, download after
  bool counts_threads = false;                   ///< a kernel whose calls as a guest leave more and more is refused
  int spares = 1;                                ///< workers kept started, waiting for a program
  std::chrono::milliseconds start_limit{20000};  ///< for starting a worker
  std::chrono::milliseconds load_limit{20000};   ///< for loading a kernel
};

/// Starts workers and keeps spare ones, so that loading a kernel does not wait for a process to start. Owned by a
/// Device; outlives its benches. Thread-safe. Borrows the sandbox and the clock.
class ArenaPool {
 public:
  ArenaPool(Sandbox& sandbox, Clock& clock, ArenaPoolOptions options);
  ~ArenaPool();
  ArenaPool(const ArenaPool&) = delete;
  ArenaPool& operator=(const ArenaPool&) = delete;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// A bench over the pool's workers. Timing::host_us includes resuming and signalling the worker (tens of microseconds
/// per batch): use batches, or compare with a kernel that does nothing.
Result<std::unique_ptr<Bench>> open_arena_bench(ArenaPool& pool, const ProblemLayout& layout);

}  // namespace kerf
