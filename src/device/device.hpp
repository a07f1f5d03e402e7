#pragma once
// A device, seen from the judge. Candidates run in worker processes started by exec; a crash, an illegal address or a
// hang ends only that worker. The judge's process never loads a driver and never maps candidate code.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "ir/dim.hpp"
#include "model/artifact.hpp"
#include "model/candidate.hpp"
#include "oracle/compare.hpp"
#include "oracle/dataset.hpp"

namespace kerf {

struct DeviceFacts {
  std::string id;      ///< "cpu", "opencl:0", "cuda:0"; as accepted by --device
  std::string name;    ///< the vendor's name: "NVIDIA H200"
  std::string driver;  ///< driver or runtime with version; part of every cache key
  std::string arch;    ///< what the compiler is told: "sm_90", "x86-64-native", "OpenCL C 1.2"
  int compute_units = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t cache_bytes = 0;            ///< last-level cache: rotation must exceed it
  std::int64_t max_threads_per_block = 0;  ///< 0: no such limit
  std::int64_t max_shared_bytes = 0;       ///< per block, opt-in limit; 0: unknown
  std::vector<std::string> lacks;          ///< features of the language that it cannot run: "matrix_units"
  bool settles_cache = false;  ///< before every batch the device's cache is made to hold nothing of the slots
  bool runs_on_host = false;   ///< kernels run on the host's cores: few threads, wide vectors, no real barriers; a
                               ///< compiler running beside a timing would disturb it
};

enum class BufferRole { input, output };
struct BufferSpec {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  BufferRole role = BufferRole::input;
};

/// The buffers of one problem instance, `slots` times at different addresses. Every buffer is surrounded by red zones.
struct ProblemLayout {
  std::vector<BufferSpec> buffers;  ///< inputs, then outputs, in task order
  int slots = 1;
};

/// Outputs and scratch are filled with one of two patterns of 16-bit words before a checked call; both are NaN in every
/// float type, with different bits.
enum class Poison : std::uint16_t { a = 0xFFFF, b = 0x7FFF };

struct Timing {
  double device_us = 0;  ///< by the device's own clock, whole batch; 0 when it has none (then host time is the time)
  double host_us = 0;    ///< by the judge's clock around the batch
};
struct Fault {
  enum class Kind { crashed, timed_out, forbidden } kind = Kind::crashed;  ///< forbidden: the sandbox refused an action
  std::string message;
};
using RunOutcome = std::variant<Timing, Fault>;

/// What a checked slot looked like after a call.
struct SlotReport {
  std::vector<oracle::CompareStats> outputs;  ///< one per output
  std::vector<std::string> changed_inputs;    ///< inputs whose bytes differ from the data set
  std::vector<std::string> broken_red_zones;  ///< buffers (scratch too) with writes outside their bounds
};

using KernelHandle = int;

/// How a single call is made, beyond the ordinary. What a device cannot vary it ignores.
struct CallManner {
  /// As a caller who promises nothing but docs/formats.md: inputs are read-only, the stack has 8 MiB, and whatever the
  /// kernel leaves changed in the process is a Fault that says what.
  enum class Guest {
    none,
    at_the_end,    ///< buffers end at a page that is not mapped
    off_by_one,    ///< buffers begin one element after a page that is not mapped; the caller is inside of a parallel
                   ///< region
    as_allocated,  ///< buffers begin 16 bytes after a page that is not mapped, as large blocks of malloc do
    repeated,      ///< several dozen calls, after which no memory may be missing
  } guest = Guest::none;
  int threads = 0;       ///< of OpenMP; 0: as it is
  bool flushes = false;  ///< the caller flushes denormals; of guests only

  bool operator==(const CallManner&) const = default;
};

/// One step of a list (Bench::follow).
struct StageStep {
  int slot = 0;
  const oracle::DataSet* data = nullptr;
  Poison poison = Poison::a;
};
struct RunStep {
  std::vector<int> slots;                ///< one call each, in order
  std::chrono::milliseconds limit{900};  ///< wall clock of the batch
  bool timed = true;                     ///< false: its time need only be roughly right
  CallManner manner{};                   ///< of untimed single calls
};
struct CheckStep {
  int slot = 0;
  const oracle::DataSet* data = nullptr;
};
using BenchStep = std::variant<StageStep, RunStep, CheckStep>;

/// What a list of steps showed.
struct StepResults {
  std::vector<Timing> runs;        ///< one per RunStep
  std::vector<SlotReport> checks;  ///< one per CheckStep
};

/// What a device's counters counted over a batch of calls, by name.
struct Counted {
  std::string source;  ///< who counted: "perf", "ncu"
  std::map<std::string, double> values;
};
namespace counter_names {
inline constexpr const char* task_clock_us = "task_clock_us";  ///< time that threads ran, summed over threads
inline constexpr const char* busiest_us = "busiest_us";        ///< of it, that of the thread that ran longest
inline constexpr const char* instructions = "instructions";
inline constexpr const char* cycles = "cycles";
inline constexpr const char* cache_misses = "cache_misses";      ///< lines that the last-level cache did not have
inline constexpr const char* stalled_cycles = "stalled_cycles";  ///< cycles that waited for data or units
inline constexpr const char* gpu_memory_percent = "gpu_memory_percent";    ///< of the memory's peak throughput
inline constexpr const char* gpu_compute_percent = "gpu_compute_percent";  ///< of the multiprocessors' peak throughput
inline constexpr const char* gpu_warps_percent = "gpu_warps_percent";      ///< active, of those that fit
}  // namespace counter_names

/// One problem on one device: buffers, data, and any number of loaded kernels that are run on them. Not thread-safe.
/// After a Fault the worker has been replaced: every handle is void and must be loaded again.
class Bench {
 public:
  virtual ~Bench() = default;

  /// Loads compiled code with its launch plan evaluated under `constants` (shape symbols and tunables). A kernel that
  /// the device refuses (too many resources, unknown entry point) or that faults while loading is a Fault, not an
  /// Error.
  virtual Result<std::variant<KernelHandle, Fault>> load(const Artifact& artifact, const LaunchPlan& plan,
                                                         const Bindings& constants) = 0;
  virtual void unload(KernelHandle kernel) = 0;

  /// The next staging of these slots is for this kernel: a device that gives every kernel memory of its own can then
  /// put the data where it is needed at once, and not right before the call. A hint, forgotten with that staging.
  virtual void expect(KernelHandle kernel, std::span<const int> slots) {
    (void)kernel;
    (void)slots;
  }

  /// Copies the data set's inputs into the slot and poisons its outputs, red zones and all scratch. The slot then
  /// belongs to the kernel that runs on it first; it must be staged again before another kernel runs on it.
  virtual Status stage(int slot, const oracle::DataSet& data, Poison poison) = 0;

  /// Runs the kernel once per listed slot, in order, as one timed batch. `limit` is wall-clock; past it the worker is
  /// killed.
  virtual Result<RunOutcome> run(KernelHandle kernel, std::span<const int> slots, std::chrono::milliseconds limit) = 0;

  /// Runs the kernel once on the slot in a manner of its own, untimed.
  virtual Result<RunOutcome> run_as(KernelHandle kernel, int slot, const CallManner& manner,
                                    std::chrono::milliseconds limit) {
    (void)manner;
    return run(kernel, std::span(&slot, 1), limit);
  }

  /// Compares the slot with the data set it was staged from: outputs, inputs unchanged, red zones intact.
  virtual Result<SlotReport> check(int slot, const oracle::DataSet& data) = 0;

  /// Does the steps in order, as `stage`, `run`, `run_as` and `check` would; all runs are of one kernel. A device may
  /// do them without waiting for each other, so a slot is checked at most once in a list. A Fault of one run ends the
  /// list.
  virtual Result<std::variant<StepResults, Fault>> follow(KernelHandle kernel, std::span<const BenchStep> steps);

  /// Runs the kernel once per listed slot under the device's counters; such calls are never timed ones. Unavailable,
  /// with the reason, where nothing can be counted.
  virtual Result<std::variant<Counted, Fault>> count(KernelHandle kernel, std::span<const int> slots,
                                                     std::chrono::milliseconds limit) {
    (void)kernel;
    (void)slots;
    (void)limit;
    return fail(Errc::unavailable, "no counters are read on this device");
  }

  /// Copies one output (index among outputs) out of a slot, for evidence and for comparing two poison runs.
  virtual Result<ir::HostTensor> read_output(int slot, int output) = 0;

  /// Puts a result that was computed elsewhere (by a vendor's library) into an output of a staged slot, so that `check`
  /// holds it to the rule for kernels. `bytes` are the whole output in its storage type.
  virtual Status write_output(int slot, int output, std::span<const std::byte> bytes) {
    (void)slot;
    (void)output;
    (void)bytes;
    return fail(Errc::unavailable, "this bench takes no results from elsewhere");
  }
};

inline Result<std::variant<StepResults, Fault>> Bench::follow(KernelHandle kernel, std::span<const BenchStep> steps) {
  StepResults results;
  for (const BenchStep& step : steps) {
    if (const auto* staged = std::get_if<StageStep>(&step)) {
      KERF_TRY_VOID(stage(staged->slot, *staged->data, staged->poison));
    } else if (const auto* batch = std::get_if<RunStep>(&step)) {
      const bool ordinary = batch->manner == CallManner{} || batch->slots.size() != 1;
      KERF_TRY(RunOutcome outcome, ordinary ? run(kernel, batch->slots, batch->limit)
                                            : run_as(kernel, batch->slots.front(), batch->manner, batch->limit));
      if (auto* fault = std::get_if<Fault>(&outcome)) return std::move(*fault);
      results.runs.push_back(std::get<Timing>(outcome));
    } else {
      const auto& checked = std::get<CheckStep>(step);
      KERF_TRY(SlotReport report, check(checked.slot, *checked.data));
      results.checks.push_back(std::move(report));
    }
  }
  return results;
}

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceFacts& facts() const = 0;
  virtual Result<std::unique_ptr<Bench>> open(const ProblemLayout& layout) = 0;
};

}  // namespace kerf
