#pragma once
// The judge's half of a bench on a GPU: speaks to one worker, replaces it after a fault, keeps data sets resident.

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "device/cuda/protocol.hpp"
#include "device/cuda/worker_pool.hpp"
#include "device/device.hpp"
#include "worker/message.hpp"

namespace kerf::cuda {

struct Reply {
  Answer answer = Answer::ok;
  std::string bytes;            ///< the whole message
  worker::Reader body() const;  ///< behind the Answer
  std::string text() const { return body().text(); }
};

class CudaBench final : public Bench {
 public:
  CudaBench(WorkerPool& pool, Clock& clock, const DeviceFacts& facts, const CudaDeviceOptions& options,
            ProblemLayout layout);
  ~CudaBench() override;

  Status start();  ///< takes a worker and makes the buffers, so that want of memory is told at once

  Result<std::variant<KernelHandle, Fault>> load(const Artifact& artifact, const LaunchPlan& plan,
                                                 const Bindings& constants) override;
  void unload(KernelHandle kernel) override;
  Status stage(int slot, const oracle::DataSet& data, Poison poison) override;
  Result<RunOutcome> run(KernelHandle kernel, std::span<const int> slots, std::chrono::milliseconds limit) override;
  Result<SlotReport> check(int slot, const oracle::DataSet& data) override;
  Result<ir::HostTensor> read_output(int slot, int output) override;

 private:
  struct Array {  // of a data set, as it lies on the device
    const ir::HostTensor* tensor = nullptr;
    enum class Form { input, expected, narrow_bound, wide_bound } form = Form::input;
    std::uint64_t bytes = 0;
    std::uint64_t key = 0;  // of its mask (none for inputs) and of its sum
  };
  struct Resident {
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;
  };

  int inputs() const { return inputs_; }
  int outputs() const { return static_cast<int>(layout_.buffers.size()) - inputs_; }
  Status ensure_worker();
  void lose_worker();
  Status send(const worker::Writer& request);
  Result<Reply> receive(std::chrono::milliseconds limit);
  Result<Reply> call(const worker::Writer& request, std::chrono::milliseconds limit);
  Status expect_ok(const Reply& reply, const char* doing);
  Status command(const worker::Writer& request, const char* doing);

  Result<std::vector<Array>> arrays_of(const oracle::DataSet& data) const;
  Status ensure_resident(const oracle::DataSet& data);
  static void write_piece(std::byte* target, const Array& array, std::uint64_t at, std::uint64_t bytes);
  Status write_arrays(std::uint64_t id, const std::vector<Array>& arrays);
  Status upload(const oracle::DataSet& data, const std::vector<Array>& arrays);
  Status make_room(std::uint64_t bytes);
  Status drop_data(std::uint64_t id);
  Result<SlotReport> report(const Reply& reply, const oracle::DataSet& data) const;

  WorkerPool& pool_;
  Clock& clock_;
  const DeviceFacts& facts_;
  CudaDeviceOptions options_;
  ProblemLayout layout_;
  int inputs_ = 0;
  std::unique_ptr<GpuWorker> worker_;
  std::list<Resident> resident_;                              // most recently used first
  std::map<KernelHandle, std::vector<std::string>> kernels_;  // scratch names, for reports
  KernelHandle next_handle_ = 1;
};

}  // namespace kerf::cuda
