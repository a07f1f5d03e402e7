#pragma once
// A GPU worker's state: one context, one problem's buffers, resident data sets, loaded kernels. Worker side only.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/judge_kernels.hpp"
#include "device/cuda/modules.hpp"
#include "device/cuda/protocol.hpp"
#include "oracle/compare.hpp"

namespace kerf::cuda {

/// Device memory between two red zones. Where it begins is drawn, so that buffers are not the same distance apart in
/// every slot.
struct Zone {
  CUdeviceptr base = 0;
  std::uint64_t bytes = 0;
  std::uint64_t front = kRedZone;  ///< bytes of the red zone before it
  CUdeviceptr data() const { return base + front; }
  std::uint64_t total() const { return (bytes + 2 * kRedZone + kPage - 1) / kPage * kPage; }
};

struct LoadedLaunch {
  CUfunction function = nullptr;
  LaunchNumbers numbers;
};

struct LoadedKernel {
  Modules modules;
  std::vector<Zone> scratch;
  std::vector<LoadedLaunch> launches;
  bool probed = false;            ///< the context was probed after its first run
  std::uint64_t local_bytes = 0;  ///< of local memory that its kernels use per thread, at most
};

struct ResidentArray {
  CUdeviceptr data = 0;
  std::uint64_t bytes = 0;
  std::uint64_t salt = 0;  ///< of its keyed sum
  std::uint64_t sum = 0;   ///< taken when it was sealed
};

struct RunTimes {
  double device_us = 0;  ///< the batch
  double host_us = 0;    ///< the same by the host's clock, with all that was queued around it
  double delay_us = 0;   ///< the judge's own part of that before the batch
};

struct CompareRequest {
  std::uint64_t buffer = 0;  ///< index of the output among the slot's buffers
  std::uint64_t dtype = 0;
  std::uint64_t count = 0;
  std::uint64_t wide_bound = 0;
  std::uint64_t expected_key = 0;               ///< of the data set and output
  std::uint64_t bound_key = 0, second_key = 0;  ///< the second keys of bounds and expected values
  double most = 0, unit = 1;                    ///< oracle::Allowance
  double relative = 0, absolute = 0;            ///< oracle::Negligible
};

struct DrawRequest {
  std::uint64_t dtype = 0, count = 0, seed = 0;
  std::uint64_t form = 0;  ///< see kDrawGiven
  double a = 0, b = 0;
};

struct OracleOutput {
  std::uint64_t dtype = 0;  ///< of what the oracle writes
  std::uint64_t count = 0;
  std::uint64_t wide_bound = 0;
  std::uint64_t expected_key = 0, bound_key = 0, second_key = 0;  ///< as in CompareRequest
};

/// Trusted code that computes a data set's expected values and bounds. Arguments of its launches: the inputs, the
/// outputs, their bounds, scratch.
struct OracleRequest {
  std::uint64_t id = 0, inputs = 0;
  std::string cubin;
  std::vector<std::uint64_t> scratch;
  std::vector<LaunchNumbers> launches;
  std::vector<OracleOutput> outputs;
};

struct CheckAnswer {
  std::vector<ComparePartial> outputs;                                  ///< whole outputs
  std::vector<std::array<std::uint64_t, oracle::kOctaves>> octaves;     ///< likewise: errors by size
  std::vector<std::uint64_t> changed_inputs;                            ///< buffer indices
  std::vector<std::uint64_t> broken_buffers;                            ///< buffer indices with broken red zones
  std::vector<std::pair<std::uint64_t, std::uint64_t>> broken_scratch;  ///< (handle, index)
};

/// One step of Session::follow, and what came of it.
struct StepRequest {
  enum Kind : std::uint64_t { stage = 0, run = 1, check = 2 };
  std::uint64_t kind = stage;
  std::uint64_t slot = 0, id = 0, inputs = 0;  ///< stage, check
  std::uint64_t poison = 0;                    ///< stage
  std::vector<std::uint64_t> slots;            ///< run
  std::uint64_t timed = 1;                     ///< run
  std::uint64_t nan_is_free = 0;               ///< check
  std::vector<CompareRequest> outputs;         ///< check
};
struct StepAnswer {
  bool intact = true;  ///< stage: the data set is what was uploaded
  RunTimes times;      ///< run
  CheckAnswer check;   ///< check
};

/// Errors: Errc::unavailable is out of memory and Errc::invalid_input a refusal, both with the session as before; any
/// other code is a CUDA error after which the context is lost.
class Session {
 public:
  static Result<Session> create(const std::string& driver_library, int device);

  /// `local_cubin` has the kernels that scrub local memory; it is loaded when a candidate uses some.
  Status setup(std::string_view judge_cubin, std::string local_cubin, void* staging, std::uint64_t staging_bytes);
  Status layout(std::uint64_t red_key, std::uint64_t sum_key, std::uint64_t slots,
                const std::vector<std::uint64_t>& buffers);
  void reset();

  Status data_make(std::uint64_t id, const std::vector<std::uint64_t>& arrays);
  Status data_write(std::uint64_t id, std::uint64_t array, std::uint64_t offset, std::uint64_t staging_offset,
                    std::uint64_t bytes);
  Status data_seal(std::uint64_t id, std::uint64_t inputs);
  void data_drop(std::uint64_t id);
  Status data_draw(std::uint64_t id, std::uint64_t array, const DrawRequest& request);
  /// Keyed sums of each output's masked expected values and bounds.
  Result<std::vector<std::uint64_t>> data_oracle(const OracleRequest& request);

  Status load(std::uint64_t handle, const std::string& cubin, const std::vector<std::uint64_t>& scratch,
              std::vector<LaunchNumbers> launches);
  void unload(std::uint64_t handle);

  /// Queues the steps one behind the other and waits at the end; a timed run waits for what is before it, and for
  /// itself. Runs are of the kernel `handle`.
  Result<std::vector<StepAnswer>> follow(std::uint64_t handle, const std::vector<StepRequest>& steps);
  Status read(std::uint64_t slot, std::uint64_t buffer, std::uint64_t offset, std::uint64_t staging_offset,
              std::uint64_t bytes);
  Status write(std::uint64_t slot, std::uint64_t buffer, std::uint64_t offset, std::uint64_t staging_offset,
               std::uint64_t bytes);

 private:
  void pin_for(std::uint64_t bytes);
  Result<CUdeviceptr> allocate(std::uint64_t bytes);
  Result<Zone> allocate_zone(std::uint64_t bytes);
  void free_all(std::vector<Zone>& zones);
  Result<const Zone*> buffer(std::uint64_t slot, std::uint64_t index) const;
  Result<std::vector<ResidentArray>*> resident(std::uint64_t id);

  Result<LoadedLaunch> prepare(const Modules& modules, LaunchNumbers numbers, std::size_t buffers) const;
  Status check_resources(CUfunction function, const LaunchNumbers& launch) const;
  Status check_arguments(CUfunction function, const LaunchNumbers& launch, std::size_t buffers) const;
  Status enqueue(const LoadedKernel& kernel, const std::vector<CUdeviceptr>& buffers);
  Status load_into(LoadedKernel& kernel, const std::string& cubin, const std::vector<std::uint64_t>& scratch,
                   std::vector<LaunchNumbers> launches, std::size_t buffers);
  void free_kernel(LoadedKernel& kernel);
  Result<std::vector<std::uint64_t>> run_oracle(const OracleRequest& request, LoadedKernel& kernel,
                                                std::vector<CUdeviceptr>& temporary);
  unsigned blocks_for(std::uint64_t elements) const;
  Status probe();
  Status scrub(const LoadedKernel& kernel);
  Status scrub_local(std::uint64_t bytes);
  Status settle_cache();
  /// Queues a look at the judge's idle memory: a kernel that wrote there could read it in its next call. Gives the
  /// number of the job.
  Result<std::uint64_t> enqueue_idle_sum();
  /// Whether that found it as it was, once the stream has come to an end.
  bool idle_is_intact(std::uint64_t job);
  Status know_idle();

  // session_steps.cpp
  /// A step that is on its way.
  struct Queued {
    std::size_t step = 0;
    std::uint64_t jobs_at = 0;
    std::size_t area = 0;                  // of the first output
    std::vector<unsigned> blocks;          // per output
    std::pair<CUevent, CUevent> events{};  // around an untimed run
  };
  struct List {
    std::uint64_t handle = 0;
    const std::vector<StepRequest>& steps;
    std::vector<StepAnswer> answers;
    std::vector<Queued> queued;
    std::size_t runs = 0;  // untimed ones
  };
  Status enqueue_stage(List& list, std::size_t step);
  Status enqueue_check(List& list, std::size_t step);
  Status enqueue_run(List& list, std::size_t step);
  Result<RunTimes> run_timed(const LoadedKernel& kernel, const std::vector<std::vector<CUdeviceptr>>& buffers);
  /// Waits for what is queued and reads what came of it.
  Status finish(List& list);
  /// The same where the lists of jobs or partial results would not fit beside those that are queued.
  Status make_room(List& list, std::size_t jobs, std::size_t areas);
  CheckAnswer read_check(const StepRequest& step, const Queued& queued) const;
  Result<std::pair<CUevent, CUevent>> run_events(std::size_t number);

  Status launch_own(CUfunction function, unsigned blocks, unsigned threads, std::initializer_list<void*> arguments,
                    unsigned shared_bytes = 0);
  /// Queues the jobs behind those that are; gives the number of the first.
  Result<std::uint64_t> enqueue_jobs(const std::vector<Job>& jobs);
  Result<std::vector<std::uint64_t>> run_jobs(const std::vector<Job>& jobs);
  void red_jobs(std::vector<Job>& jobs, Job::Kind kind, const Zone& zone) const;
  Result<unsigned> enqueue_compare(std::size_t area, const CompareRequest& request, std::uint64_t slot,
                                   std::uint64_t id, std::uint64_t inputs, std::uint64_t output, bool nan_is_free);

  Driver driver_;
  int multiprocessors_ = 1;
  int max_shared_ = 0;
  int l2_bytes_ = 0;
  unsigned most_blocks_ = 1;  // of the judge's kernels
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUevent before_delay_ = nullptr, begin_ = nullptr, end_ = nullptr;
  CUfunction jobs_ = nullptr, compare_ = nullptr, delay_ = nullptr, probe_ = nullptr, draw_ = nullptr, mask_ = nullptr,
             scrub_ = nullptr;
  std::map<std::uint64_t, CUfunction> scrub_local_;  // by bytes per thread; empty until they are needed
  std::string local_cubin_;
  std::uint64_t idle_sum_ = 0;
  bool idle_known_ = false;  // idle_sum_ is what idle_ holds, under this sum_key_
  CUdeviceptr idle_ = 0;     // three times the L2 cache, for settle_cache(); 0: there is no L2
  CUdeviceptr work_ = 0;     // jobs, results, partials; `pinned_` mirrors it in host memory
  std::byte* pinned_ = nullptr;
  std::byte* staging_ = nullptr;
  std::uint64_t staging_bytes_ = 0;
  bool pinning_tried_ = false;
  std::uint64_t red_key_ = 0, sum_key_ = 0;
  std::uint64_t zones_made_ = 0;  // with red_key_: where the next one begins
  std::uint64_t scrubs_ = 0;
  std::uint64_t next_job_ = 0;  // places in the work memory that queued steps do not use
  std::size_t next_area_ = 0;
  std::vector<std::pair<CUevent, CUevent>> run_events_;
  SystemClock clock_;
  std::uint64_t inputs_ = 0;  // of the buffers of a slot, as last staged
  std::vector<std::vector<Zone>> slots_;
  std::map<std::uint64_t, std::vector<ResidentArray>> data_;
  std::map<std::uint64_t, LoadedKernel> kernels_;
};

}  // namespace kerf::cuda
