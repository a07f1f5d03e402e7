#pragma once
// The worker's half of an arena device: what a device kind implements (`ArenaKernel`) and the loop that serves the
// judge. A worker is one process for one loaded kernel. The judge stops the whole process (SIGSTOP) whenever no batch
// runs, so nothing here may depend on time passing between two calls. The worker never times for the judge: `run` may
// report the device's own event time, which is the only number the judge takes from it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "sandbox/lockdown.hpp"

namespace kerf::arena {

/// A buffer in the worker's address space. `zone` is the readable and writable memory around it: red zone, buffer, red
/// zone. The pages before and after the zone are not mapped. A device with memory of its own copies zones, not buffers,
/// so that writes outside the buffer come back to the judge.
struct Buffer {
  std::byte* data = nullptr;  ///< 64-byte aligned; the offset from a page differs between slots
  std::int64_t bytes = 0;
  std::byte* zone = nullptr;    ///< page-aligned
  std::int64_t zone_bytes = 0;  ///< whole pages; at least 256 bytes lie before `data` and after its end
};

/// One launch of the plan with every extent evaluated.
struct LaunchNumbers {
  std::string kernel;
  std::array<std::int64_t, 3> grid{1, 1, 1};   ///< work-groups, x first
  std::array<std::int64_t, 3> block{1, 1, 1};  ///< work-items per group
  int dimensions = 1;                          ///< 1 to 3: the larger of the two as written
  std::int64_t shared_bytes = 0;
  std::vector<int> args;  ///< index into inputs, then outputs, then scratch
};

/// Everything a kernel needs for the rest of its life. It and all memory in it stay valid until the process ends.
struct Program {
  std::string_view artifact;               ///< compiled code, in memory that the worker cannot write
  int artifact_fd = -1;                    ///< the same bytes as a sealed memfd: dlopen("/proc/self/fd/N")
  int inputs = 0;                          ///< how many of a slot's buffers are inputs; the rest are outputs
  std::vector<std::vector<Buffer>> slots;  ///< per slot: inputs, then outputs
  std::vector<Buffer> scratch;             ///< the same for every slot
  Surroundings surroundings;               ///< of this process, to be hidden before the candidate's code is loaded
  std::vector<LaunchNumbers> launches;     ///< none: the language's own entry point takes all buffers in order

  /// The buffers of one call in argument order: the slot's, then scratch.
  const Buffer& argument(int slot, int index) const {
    const auto& own = slots[static_cast<std::size_t>(slot)];
    const auto i = static_cast<std::size_t>(index);
    return i < own.size() ? own[i] : scratch[i - own.size()];
  }
};

/// Implemented by a device kind. Calls come from one thread, in the order start, load, then any of the others.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Before any program is known (spare workers wait after this): open drivers, create contexts and queues.
  virtual Status start() = 0;

  /// Loads the code and makes ready to run on every slot. An error is the device's refusal, told to the user as a
  /// Fault. Locks the process down (sandbox/lockdown.hpp, with `note_forbidden` as its report) before code of the
  /// candidate can run.
  virtual Status load(const Program& program) = 0;

  /// Runs the kernel once per listed slot, in order; everything is complete on return. Microseconds by the device's own
  /// clock for the whole batch, or 0 when it has none. An error is a Fault (for example a failed launch).
  virtual Result<double> run(std::span<const int> slots) = 0;

  /// Runs the kernel once on the slot in a manner of its own; what a device cannot vary it ignores.
  virtual Status run_as(int slot, const CallManner& manner) {
    (void)manner;
    return run(std::span(&slot, 1)).transform([](double) {});
  }

  /// Devices with memory of their own (PoolOptions::separate_memory): bring the zones of these slots' buffers (and of
  /// scratch) to the device after the judge has filled them, and back before it looks at them. Not timed.
  virtual Status upload(std::span<const int> slots) {
    (void)slots;
    return {};
  }
  virtual Status download(std::span<const int> slots) {
    (void)slots;
    return {};
  }
};

/// Serves the judge until it closes the connection: the exit code of the process. Takes the connection from the
/// descriptor number the judge passes (kWorkerSocket). Crashes are reported through the control page.
int serve(Kernel& kernel);

/// Tells the judge which system call was refused; for LockdownPolicy::on_forbidden. Async-signal-safe.
void note_forbidden(int system_call);

}  // namespace kerf::arena
