#pragma once
// Everything that is prepared once per (task, target, shape): buffers on the device, data with expected values,
// baselines.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "build/build.hpp"
#include "judge/device_data.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"
#include "oracle/reference.hpp"
#include "target/target.hpp"
#include "verify/verify.hpp"

namespace kerf {

/// Which input families the task can be checked with: those on which a plain implementation is right.
struct Families {
  std::vector<oracle::Family> usable;
  std::vector<std::string> notes;  ///< families left out, and why
};

struct LoadedBaseline {
  std::string name;
  Candidate candidate;
  Artifact artifact;
  std::optional<KernelHandle> handle;  ///< none after the worker was replaced
  double estimate_us = 0;
};

class ShapeContext {
 public:
  struct Inputs {
    const Task& task;
    const ShapeSet& shape;
    Target& target;
    const oracle::Reference& reference;
    BuildCache& builds;
    std::uint64_t seed = 1;
    int timed_data_sets = 3;
    std::int64_t host_bytes = 0;  ///< memory that may be taken; 0: what the host has free
    Clock* clock = nullptr;       ///< null: costs() stays empty
  };

  /// Compiles what `prepare` will ask the build cache for; thread-safe.
  static void compile_ahead(const Inputs& inputs);

  /// With `families` null the context finds out which are usable and checks all of them (the smallest shape does this);
  /// otherwise it uses a subset that suits large tensors.
  static Result<std::unique_ptr<ShapeContext>> prepare(const Inputs& inputs, const Families* families, Families& found);

  const ShapeSet& shape() const { return shape_; }
  Bench& bench() { return *bench_; }
  int slots() const { return slots_; }
  /// Whether the caches hold so much of a slot that others must be staged to push it out.
  bool needs_flush() const { return needs_flush_; }
  const std::vector<BufferSpec>& outputs() const { return outputs_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// What the preparation cost, by part, in the order of the work.
  const std::vector<TierTime>& costs() const { return costs_; }

  /// Data sets to verify on, the normal one first.
  std::vector<const CheckedData*> checked() const;
  /// Data sets timed calls draw from (all normal), with their honest accuracy.
  std::vector<const CheckedData*> timed() const;

  /// Baselines, loaded (again, if a fault voided their handles).
  Result<std::vector<LoadedBaseline*>> baselines();
  /// The same code in a fresh process: what a candidate goes through between timings, its baselines go through too.
  Result<KernelHandle> reload(LoadedBaseline& baseline);
  /// After a Fault: all handles are void.
  void forget_handles();
  /// Time of the naive kernel, 0 when there is none.
  double naive_us() const;

 private:
  explicit ShapeContext(const ShapeSet& shape) : shape_(shape) {}
  /// Does one part of the preparation and keeps what it cost.
  template <class Work>
  auto part(const Inputs& inputs, const char* name, const Work& work);
  Status prepare_parts(const Inputs& inputs, const Families* families, Families& found);
  Status open_bench(const Inputs& inputs);
  Status make_data(const Inputs& inputs, const Families* families, Families& found);
  Status add_baselines(const Inputs& inputs);
  Status load(LoadedBaseline& baseline);
  Result<HonestAccuracy> honest_accuracy(LoadedBaseline& plain, const oracle::DataSet& data, bool& right);
  Result<std::unique_ptr<LoadedBaseline>> build_plain(const Inputs& inputs, const std::string& name,
                                                      const std::string& source);

  ShapeSet shape_;
  std::unique_ptr<Bench> bench_;
  int slots_ = 1;
  bool needs_flush_ = true;
  std::vector<BufferSpec> outputs_;
  std::unique_ptr<DeviceData> device_data_;         // set for shapes whose data is made on the device
  std::vector<std::unique_ptr<CheckedData>> data_;  // checked sets; the first `timed_count_` normal ones are timed
  std::size_t timed_count_ = 0;
  std::vector<std::unique_ptr<LoadedBaseline>> baselines_;
  std::unique_ptr<LoadedBaseline> accuracy_;  // plain kernel of the accuracy class, when it is not the naive one
  std::vector<std::string> notes_;
  std::vector<TierTime> costs_;
};

/// The constants of a compile: shape symbols and tunables.
Bindings with_tunables(const Bindings& symbols, const Bindings& tunables);

/// Source of the naive kernel in the target's language; "" when the task's reference has none there.
Result<std::string> naive_source(const Task& task, const Target& target);
/// The same for a target that need not be there: neither compiler nor device takes part.
Result<std::string> naive_source(const Task& task, const TargetDescription& target);

}  // namespace kerf
