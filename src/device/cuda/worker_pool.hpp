#pragma once
// GPU worker processes: started ahead, handed to benches, taken back clean, thrown away after a fault.

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/cuda/cuda_device.hpp"
#include "worker/process.hpp"

namespace kerf::cuda {

inline constexpr std::uint64_t kStagingBytes = 64 << 20;  ///< two halves, filled and copied in turn

/// A started worker with its context and the judge's kernels, and memory that both processes see. Not thread-safe.
class GpuWorker {
 public:
  GpuWorker(std::unique_ptr<worker::Process> process, int descriptor, std::byte* staging)
      : process_(std::move(process)), descriptor_(descriptor), staging_(staging) {}
  ~GpuWorker();
  GpuWorker(const GpuWorker&) = delete;
  GpuWorker& operator=(const GpuWorker&) = delete;

  worker::Process& process() { return *process_; }
  std::byte* staging() { return staging_; }
  int descriptor() const { return descriptor_; }

 private:
  std::unique_ptr<worker::Process> process_;
  int descriptor_;
  std::byte* staging_;
};

/// Thread-safe.
class WorkerPool {
 public:
  explicit WorkerPool(CudaDeviceOptions options);

  /// Starts workers whose contexts are made while the caller does something else.
  void start_ahead(int count);
  /// The judge's kernels (judge_source, judge_local_source); before the first take.
  void set_judge(std::string cubin, std::string local_cubin) {
    judge_cubin_ = std::move(cubin);
    local_cubin_ = std::move(local_cubin);
  }

  /// A worker that is ready for a layout. Starts spares in its place once keep_spares() was called.
  Result<std::unique_ptr<GpuWorker>> take();
  /// From now on spares wait. Starting one slows whatever else the driver does, so this is for when the first kernel
  /// has been judged.
  void keep_spares();
  /// A worker whose context is sound; it is emptied and kept, or ended when enough are waiting.
  void give_back(std::unique_ptr<GpuWorker> worker);

  /// Those who hold device memory that they can do without. Whoever runs out of memory asks the others to give way; all
  /// of them are used by one thread.
  struct Tenant {
    virtual ~Tenant() = default;
    virtual void give_way() = 0;
  };
  void add(Tenant& tenant) { tenants_.push_back(&tenant); }
  void remove(Tenant& tenant) { std::erase(tenants_, &tenant); }
  void make_room_for(const Tenant& tenant);

 private:
  Result<std::unique_ptr<GpuWorker>> start() const;  ///< does not wait for it
  Status make_ready(GpuWorker& worker) const;        ///< greeting and set-up
  void refill();

  CudaDeviceOptions options_;
  std::string judge_cubin_, local_cubin_;
  std::vector<Tenant*> tenants_;
  std::mutex mutex_;
  bool spares_wanted_ = false;                       // guarded by mutex_
  std::deque<std::unique_ptr<GpuWorker>> ready_;     // guarded by mutex_; emptied, set up
  std::deque<std::unique_ptr<GpuWorker>> starting_;  // guarded by mutex_; started, not yet greeted
};

}  // namespace kerf::cuda
