#pragma once
// Worker processes that are kept between requests: compilers whose start costs more than a compile.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "worker/process.hpp"

namespace kerf::worker {

/// How many processes of a kind run at once. Thread-safe.
class ProcessSlots {
 public:
  explicit ProcessSlots(int most) : free_(most > 1 ? most : 1) {}

  /// One process's share, given back by the destructor. Not longer than the slots.
  class Slot {
   public:
    explicit Slot(ProcessSlots& slots) : slots_(&slots) {}
    Slot(Slot&& other) noexcept : slots_(other.slots_) { other.slots_ = nullptr; }
    Slot& operator=(Slot&&) = delete;
    ~Slot();

   private:
    ProcessSlots* slots_;
  };
  [[nodiscard]] Slot take();  ///< waits until one is free

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int free_;  // guarded by mutex_
};

struct PoolOptions {
  std::string compiler;  ///< what messages call it: "the OpenCL compiler"
  int most_processes = 1;
  std::chrono::milliseconds start_limit{60000};
  int most_requests = 0;              ///< then a process is replaced, because libraries leak; 0: never
  Errc unusable = Errc::tool_failed;  ///< code of the error when no process can be started
};

/// The first message of every process of a pool: whether it can work, and its version or the reason why not.
std::string greeting(bool usable, std::string_view text);

/// The process crashed or ran past its limit on this request; `how` is for the author of the source.
struct Lost {
  std::string how;
};

/// Thread-safe. Processes are started when they are needed, kept, and replaced after a crash or a hang.
class Pool {
 public:
  Pool(Command command, PoolOptions options);

  /// Starts a first process without waiting for it.
  Status warm();

  /// The text that a process greets with.
  Result<std::string> version();

  /// One answer, waited for up to `limit`; a process whose answer is not `well_formed` is not used again and the answer
  /// is an Error, as when no process can be had. A process that died while it was idle is replaced; the death of a
  /// fresh one is the request's doing.
  Result<std::variant<std::string, Lost>> request(std::string_view payload, std::chrono::milliseconds limit,
                                                  const std::function<bool(std::string_view)>& well_formed);

 private:
  struct Worker {
    std::unique_ptr<Process> process;
    bool greeted = false, fresh = true;  // fresh: was never idle
    std::string version;
    int requests = 0;
  };
  Result<Worker> start() const;
  Result<Worker> idle_or_new();
  Status greet(Worker& worker) const;
  void keep(Worker worker);

  Command command_;
  PoolOptions options_;
  ProcessSlots slots_;
  std::mutex mutex_;
  std::vector<Worker> idle_;  // guarded by mutex_
};

}  // namespace kerf::worker
