#pragma once
// How a search chooses: what to ask for, of which parent, in which direction. Three ways, to be compared at equal
// budget.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "archive/archive.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "propose/proposer.hpp"
#include "store/run_store.hpp"

namespace kerf {

/// One thing a mind can be asked for.
struct Operation {
  std::string proposer;
  OperationInfo info;
  std::string arm() const { return proposer + "/" + info.name; }  ///< "builtin/parameter"
};

struct Choice {
  std::size_t operation = 0;               ///< index into the operations offered
  std::optional<std::int64_t> parent;      ///< step
  std::vector<std::int64_t> inspirations;  ///< steps, from other cells where there are some
  std::optional<Direction> direction;
};

/// A step as policies learn from it.
struct Observed {
  const Step& step;
  const Decision& decision;
  std::optional<double> parent_log_speedup;  ///< of its first parent, if that was measured
  std::optional<double> best_log_speedup;    ///< before this step
  double seconds = 0;                        ///< it took
};

/// Not thread-safe. Its state is a function of what it observed, so that replaying a run rebuilds it.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual void observe(const Observed& observed) = 0;
  /// None when nothing in `operations` can be asked for now.
  virtual std::optional<Choice> choose(const Archive& archive, const std::vector<Operation>& operations, Rng& rng) = 0;
  /// Whether the proposers' own first guesses are evaluated before the policy is asked.
  virtual bool wants_starts() const { return true; }
};

/// "kerf": bandits over operations and directions, tempered softmax on log speedup.
/// "published": softmax on raw speedup over four islands with ring migration, one random dimension one level up.
/// "random": restarts only.
std::vector<std::string> policy_names();
/// An error names the nearest known policy.
Result<std::unique_ptr<Policy>> make_policy(const std::string& name);

}  // namespace kerf
