#pragma once
// Everything that is prepared once per (task, target, shape): buffers on the device, data with expected values,
// baselines.

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "build/build.hpp"
#include "judge/device_data.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"
#include "oracle/reference.hpp"
#include "target/target.hpp"
#include "verify/verify.hpp"

namespace kerf {

/// Which input patterns the task can be checked with: those on which a plain implementation is right.
struct UsablePatterns {
  std::vector<oracle::Pattern> usable;
  std::vector<std::string> notes;  ///< patterns left out, and why
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
    bool is_timed = true;         ///< false: kernels are verified only, so that nothing is compared with the naive one
  };

  /// Compiles what `prepare` will ask the build cache for; thread-safe.
  static void compile_ahead(const Inputs& inputs);

  /// With `patterns` null the context finds out which are usable and checks all of them (the smallest shape does this);
  /// otherwise it uses some that every shape is checked with and others at random.
  static Result<std::unique_ptr<ShapeContext>> prepare(const Inputs& inputs, const UsablePatterns* patterns,
                                                       UsablePatterns& found);

  const ShapeSet& shape() const { return shape_; }
  Bench& bench() { return *bench_; }
  int slots() const { return slots_; }
  std::int64_t slot_bytes() const { return slot_bytes_; }
  /// Whether the caches hold so much of a slot that others must be staged to push it out.
  bool needs_flush() const { return needs_flush_; }
  const std::vector<BufferSpec>& outputs() const { return outputs_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// What the preparation cost, by part, in the order of the work.
  const std::vector<TierTime>& costs() const { return costs_; }

  /// Data sets to verify on, an ordinary one first.
  std::vector<const oracle::DataSet*> checked() const;
  /// The same in random order; of repeated draws of the same kinds of data one each.
  std::vector<const oracle::DataSet*> checked(Rng rng) const;
  /// Data sets timed calls draw from: the checked ones without special values.
  std::vector<const oracle::DataSet*> timed() const;

  /// Baselines, loaded (again, if a fault voided their handles).
  Result<std::vector<LoadedBaseline*>> baselines();
  /// A kernel of ours that is right, loaded: shows whether the device still computes. Null when the task has none.
  Result<LoadedBaseline*> canary();
  /// The same code in a fresh process: what a candidate goes through between timings, its baselines go through too.
  Result<KernelHandle> reload(LoadedBaseline& baseline);
  /// After a Fault: all handles are void.
  void forget_handles();
  /// Time of the naive kernel, 0 when there is none; a guess where only the one in tiles was run.
  double naive_us() const;

 private:
  explicit ShapeContext(const ShapeSet& shape) : shape_(shape) {}
  /// Does one part of the preparation and keeps what it cost.
  template <class Work>
  auto part(const Inputs& inputs, const char* name, const Work& work) {
    const Nanoseconds start = inputs.clock != nullptr ? inputs.clock->now() : Nanoseconds{};
    auto done = work();
    add_cost(inputs, name, start);
    return done;
  }
  double plain_us() const;  ///< of the plain kernel of the accuracy class, as it would take without tiles
  void add_cost(const Inputs& inputs, const char* name, Nanoseconds start);
  Status prepare_parts(const Inputs& inputs, const UsablePatterns* patterns, UsablePatterns& found);
  Status open_bench(const Inputs& inputs);
  Status make_data(const Inputs& inputs, const UsablePatterns* patterns, UsablePatterns& found);
  Status add_baselines(const Inputs& inputs);
  Status load(LoadedBaseline& baseline);

  // shape_data.cpp
  /// A data set to draw: the label names its stream of the seed.
  struct Kind {
    oracle::Pattern pattern = oracle::Pattern::normal;
    std::string label;
    int octaves = oracle::kWidestOctaves;
    std::int64_t turn = 0;  ///< of the pattern's kinds of rows (oracle::DataDraw)
    int part = 0;           ///< of the draws that are checked: one of each part
    bool wide = false;      ///< scales far beyond those in use are tried first
  };
  /// What is drawn besides the first normal data set. `known` null: all there are.
  std::vector<oracle::Pattern> patterns_for(const Inputs& inputs, const UsablePatterns* known);
  /// How many draws of each pattern are checked, so that every kind of row is among them; fewer for much work.
  Result<std::map<oracle::Pattern, int>> parts_of(const Inputs& inputs, bool smallest) const;
  oracle::DataDraw draw_of(const Inputs& inputs, const Kind& kind) const;
  Result<oracle::DataSet> draw(const Inputs& inputs, const Kind& kind);
  /// Runs the plain kernel on the data set and keeps its errors there; false where it is not right itself.
  Result<bool> ask_plain(LoadedBaseline& plain, oracle::DataSet& data);
  /// The same with data sets of the same kind for company, where one has too few elements.
  Result<bool> find_honest_errors(const Inputs& inputs, LoadedBaseline& plain, oracle::DataSet& data, const Kind& kind);
  /// False when a plain implementation is not right on such data, however it is drawn.
  Result<bool> add_data(const Inputs& inputs, Kind kind, LoadedBaseline* plain);
  /// Least share of an output's elements that kernels are held to, over the data sets of the pattern.
  double compared_share(oracle::Pattern pattern) const;
  Result<std::unique_ptr<LoadedBaseline>> build_plain(const Inputs& inputs, const std::string& name,
                                                      const std::string& source);

  ShapeSet shape_;
  std::unique_ptr<Bench> bench_;
  int slots_ = 1;
  std::int64_t slot_bytes_ = 0;
  bool needs_flush_ = true;
  std::vector<BufferSpec> outputs_;
  std::unique_ptr<DeviceData> device_data_;  // set for shapes whose data is made on the device
  std::vector<std::unique_ptr<oracle::DataSet>> data_;
  std::vector<std::string> parts_;  // of each data set: of those with equal text one is checked
  std::vector<std::unique_ptr<LoadedBaseline>> baselines_;
  std::unique_ptr<LoadedBaseline> accuracy_;  // plain kernel of the accuracy class, when it is not a baseline
  bool plain_in_tiles_ = false;               // its products are tiled, so it is faster than the naive kernel
  std::vector<std::string> notes_;
  std::vector<TierTime> costs_;
};

/// The constants of a compile: shape symbols and tunables.
Bindings with_tunables(const Bindings& symbols, const Bindings& tunables);

/// How many data sets timed calls of a shape draw from: small shapes are batched, and every call of a batch needs data
/// of its own.
int timed_sets(const Task& task, const ShapeSet& shape, int at_least);
/// How many of them are of usual magnitudes at least: those are what a kernel's time is said of.
std::ptrdiff_t usual_sets(const Task& task, const ShapeSet& shape);

/// Source of the naive kernel in the target's language; "" when the task's reference has none there.
Result<std::string> naive_source(const Task& task, const Target& target);
/// The same with its outer loop shared among threads, where kernels of the language do that themselves and the device
/// has several cores; "" elsewhere.
Result<std::string> naive_parallel_source(const Task& task, const Target& target);
/// The same for a target that need not be there: neither compiler nor device takes part.
Result<std::string> naive_source(const Task& task, const TargetDescription& target);
Result<std::string> naive_parallel_source(const Task& task, const TargetDescription& target);

inline constexpr const char* kNaiveBaseline = "naive";
inline constexpr const char* kParallelBaseline = "naive-parallel";

}  // namespace kerf
