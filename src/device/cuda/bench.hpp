#pragma once
// The judge's half of a bench on a GPU: speaks to one worker, replaces it after a fault, keeps data sets resident.

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "device/cuda/counted_calls.hpp"
#include "device/cuda/protocol.hpp"
#include "device/cuda/worker_pool.hpp"
#include "device/device.hpp"
#include "device/device_oracle.hpp"
#include "worker/message.hpp"

namespace kerf::cuda {

/// For what is no run of a candidate.
inline constexpr std::chrono::milliseconds kCommandLimit{60000};

/// Counts and handles as they travel.
inline std::uint64_t number(int value) { return static_cast<std::uint64_t>(value); }

struct Reply {
  Answer answer = Answer::ok;
  std::string bytes;            ///< the whole message
  worker::Reader body() const;  ///< behind the Answer
  std::string text() const { return body().text(); }
};

class CudaBench final : public Bench, public DeviceOracle, private WorkerPool::Tenant {
 public:
  CudaBench(WorkerPool& pool, Clock& clock, const DeviceFacts& facts, const CudaDeviceOptions& options,
            ProblemLayout layout);
  ~CudaBench() override;

  Status start();  ///< takes a worker and makes the buffers, so that running out of memory is reported at once

  Result<std::variant<KernelHandle, Fault>> load(const Artifact& artifact, const LaunchPlan& plan,
                                                 const Bindings& constants) override;
  void unload(KernelHandle kernel) override;
  Status stage(int slot, const oracle::DataSet& data, Poison poison) override;
  Result<RunOutcome> run(KernelHandle kernel, std::span<const int> slots, std::chrono::milliseconds limit) override;
  Result<SlotReport> check(int slot, const oracle::DataSet& data) override;
  Result<std::variant<StepResults, Fault>> follow(KernelHandle kernel, std::span<const BenchStep> steps) override;
  /// One call, on the first slot, through ncu where it is found; takes seconds.
  Result<std::variant<Counted, Fault>> count(KernelHandle kernel, std::span<const int> slots,
                                             std::chrono::milliseconds limit) override;
  Result<ir::HostTensor> read_output(int slot, int output) override;
  Status write_output(int slot, int output, std::span<const std::byte> bytes) override;
  Status make_on_device(const oracle::DataSet& data, DeviceRecipe recipe) override;
  void forget(std::uint64_t id) override;
  Spent spent() const override { return spent_; }

 private:
  struct Array {                             // of a data set, as it lies on the device
    const ir::HostTensor* tensor = nullptr;  // null when it is made on the device
    enum class Role { input, expected, narrow_bound, wide_bound } role = Role::input;
    std::uint64_t bytes = 0;
    std::uint64_t key = 0;  // of its mask; inputs have none
    std::uint64_t sum = 0;  // of the masked words, each times its mask; as the comparison sums them
  };
  struct Resident {
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;
    std::vector<Array> arrays;  // without tensors
  };
  struct Kernel {
    std::vector<std::string> scratch;  // names, for reports
    std::string request;               // that loads it
  };

  int inputs() const { return inputs_; }
  int outputs() const { return static_cast<int>(layout_.buffers.size()) - inputs_; }
  std::uint64_t derive(std::string_view what) const;
  Status ensure_worker();
  void lose_worker();
  Status renew_worker();
  Status send(const std::string& request);
  Result<Reply> receive(std::chrono::milliseconds limit);
  Result<Reply> call(const std::string& request, std::chrono::milliseconds limit);
  Status expect_ok(const Reply& reply, const char* doing);
  Status command(const worker::Writer& request, const char* doing);

  Result<std::vector<Array>> arrays_of(const oracle::DataSet& data) const;
  Status ensure_resident(const oracle::DataSet& data);
  static std::uint64_t write_piece(std::byte* target, const Array& array, std::uint64_t second_key, std::uint64_t at,
                                   std::uint64_t bytes);
  Status write_arrays(std::uint64_t id, std::vector<Array>& arrays);
  Status place(std::uint64_t id, const std::vector<Array>& arrays);
  Status draw_inputs(std::uint64_t id, const DeviceRecipe& recipe);
  Status run_oracle(std::uint64_t id, const DeviceRecipe& recipe, std::vector<Array>& arrays);
  Status make_room(std::uint64_t bytes);
  /// After `reply` said that memory ran out: frees some of this bench or, last, of the others. False: nothing is left.
  Result<bool> freed_memory();
  void give_way() override;
  Status drop_data(std::uint64_t id);

  Status read_buffer(int slot, int buffer, std::span<std::byte> bytes);
  // bench_count.cpp
  Result<CountedCall> counted_call(KernelHandle kernel, int slot);

  // bench_steps.cpp
  /// What came of a list of steps.
  struct Followed {
    StepResults results;
    std::set<std::uint64_t> spoiled;                                // data sets that were so when they were staged
    std::vector<std::pair<std::size_t, CheckStep>> spoiled_checks;  // by number: data sets that were so at the check
  };
  /// False when the data sets of the steps do not fit on the device beside each other.
  Result<bool> ensure_all_resident(std::span<const BenchStep> steps);
  Status write_check(worker::Writer& request, const CheckStep& step) const;
  Result<std::string> request_for(KernelHandle kernel, std::span<const BenchStep> steps) const;
  Result<std::variant<Reply, Fault>> exchange(const std::string& request, std::span<const BenchStep> steps);
  Result<std::variant<Followed, Fault>> try_follow(KernelHandle kernel, std::span<const BenchStep> steps);
  Result<SlotReport> check_again(const CheckStep& step);
  Result<SlotReport> read_report(worker::Reader& body, const oracle::DataSet& data, bool& spoiled) const;

  WorkerPool& pool_;
  Clock& clock_;
  const DeviceFacts& facts_;
  CudaDeviceOptions options_;
  ProblemLayout layout_;
  int inputs_ = 0;
  std::uint64_t mask_key_ = 0, bound_mask_key_ = 0;  // second keys of expected values and bounds
  std::unique_ptr<GpuWorker> worker_;
  std::list<Resident> resident_;  // most recently used first
  std::map<KernelHandle, Kernel> kernels_;
  std::map<std::uint64_t, DeviceRecipe> recipes_;  // of data sets made on the device
  Spent spent_;
  bool others_gave_way_ = false;  // since this bench last ran out of memory
  bool suspect_ = false;          // a kernel wrote outside its buffers: the next candidate gets another worker
  KernelHandle next_handle_ = 1;
  int unloaded_ = 0;  // kernels, so far
};

}  // namespace kerf::cuda
