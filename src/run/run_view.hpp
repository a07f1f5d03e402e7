#pragma once
// A run as people look at it: read once from its store, with the archive replayed and the family tree at hand.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "archive/archive.hpp"
#include "archive/speedup_estimates.hpp"
#include "base/result.hpp"
#include "run/conversations.hpp"
#include "store/run_store.hpp"

namespace kerf {

struct RunView {
  std::filesystem::path folder;
  std::map<std::string, std::string> facts;
  std::vector<Step> steps;         ///< step n is steps[n - 1]
  Archive archive;                 ///< as the steps leave it
  SpeedupEstimates estimates;      ///< likewise
  std::set<std::int64_t> refuted;  ///< steps that were refused when they were measured again
  Conversations conversations;     ///< empty unless they were asked for
  std::int64_t best = 0;           ///< the winner's step; 0 while nothing was measured

  const Step& step(std::int64_t number) const { return steps[static_cast<std::size_t>(number) - 1]; }
  std::string fact(const std::string& key) const;  ///< "" when it is not known
};

enum class RunDetail {
  steps,
  conversations,  ///< with what models and programs were told and said, which can be most of a run's bytes
};
Result<RunView> load_run(const std::filesystem::path& folder, RunDetail detail = RunDetail::steps);

/// The measurement of a step, or null.
const Measurement* measurement_of(const Step& step);
/// Its speedup over the strongest baseline, as this step measured it by itself. Zeros when it was not timed, and for
/// the plain kernel, which is not compared with itself.
Speedup measured_speedup(const Step& step);
/// The one estimate that everything shows which sets kernels of a run beside each other: by way of kernels that were
/// timed in turn, on the scale of the best's own measurement. Zeros as above.
Speedup estimated_speedup(const RunView& run, const Step& step);
/// The ratio alone.
double speedup_of(const RunView& run, const Step& step);
/// "among the run's kernels: 6.9x (5x to 9x), on the scale of the best", where the step by itself measured
/// another figure;
/// "" where the two agree.
std::string estimate_words(const RunView& run, const Step& step);
/// How it did against an earlier kernel: "1.12 times as fast (1.05 to 1.20) as step 4, timed in turn"; "" where they
/// were not timed in turn.
std::string paired_words(const Step& step);

/// Why it is in its cell, per dimension: "memory 3: 16-byte loads into shared memory"; empty when that was not
/// recorded.
std::vector<std::string> reasons_of(const Step& step);

/// The step that `text` means: a number, "best", or the beginning of a candidate's id (at least 4 digits). Of several
/// steps with that candidate the fastest. Errors name what there is.
Result<std::int64_t> find_step(const RunView& run, const std::string& text);

/// How many steps came this far, in the order of a kernel's way: proposed, readable, compiled, ran, right, timed, kept.
struct FunnelStage {
  std::string name;
  std::size_t count = 0;
  std::string lost;  ///< what became of those that did not come further: "3 wrong result (values)"
};
std::vector<FunnelStage> funnel_of(const RunView& run);

/// First ancestor to `number`, along first parents.
std::vector<std::int64_t> lineage_of(const RunView& run, std::int64_t number);
/// Every ancestor of `number` and itself, ascending.
std::vector<std::int64_t> ancestors_of(const RunView& run, std::int64_t number);

/// A step of the search that was faster than everything before it (finalists measured again are none).
struct TurningPoint {
  std::int64_t step = 0;
  double speedup = 0;  ///< as estimated; 0 for the plain kernel
  double gain = 1;     ///< over the best before it, as estimated now; 1 for the first
};
std::vector<TurningPoint> turning_points(const RunView& run);

/// How one way of proposing fared.
struct Tally {
  std::string name;  ///< "builtin parameter", or a direction: "memory+1"
  std::size_t tried = 0, measured = 0, kept = 0, best = 0;
  std::size_t reached = 0;  ///< directions: landed where it was asked to
  double median_gain = 0;   ///< of the child over its first parent, where both were measured; 0: none
};
std::vector<Tally> tally_operations(const RunView& run);  ///< most tried first
std::vector<Tally> tally_directions(const RunView& run);

/// What one language model (or agent program) gave and took.
struct ModelTally {
  std::string model;
  std::size_t answers = 0, kernels = 0, passed = 0, best = 0;  ///< best: faster than all before
  std::int64_t tokens = 0;
  double cost_usd = 0, seconds = 0;
};
std::vector<ModelTally> tally_models(const RunView& run);  ///< most answers first; empty without such minds

}  // namespace kerf
