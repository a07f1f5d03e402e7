#pragma once
// What experiences turned out to be worth when they were used: rewards, values with counts, and how they are learned.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/evaluation.hpp"

namespace kerf::memory {

/// The rule by which values are learned and experiences chosen.
enum class Rule {
  kerf,       ///< graded rewards, rates that fall with the count, similarity, value and an upper confidence bound
  published,  ///< rewards as published (z-scored in the refine stage), a constant rate, epsilon-greedy by value
  similar,    ///< by similarity alone; values are learned as by `kerf`, but not used
};
std::string_view rule_name(Rule rule);  ///< stored, never renamed
Result<Rule> rule_from_name(std::string_view name);

/// What an experience was used for, and when. Draft: no kernel of the run was measured yet. Refine: there is a best one
/// to beat. A kernel that is adapted and tried and one that is shown to a language model are worth different things.
enum class ValueStage {
  draft,         ///< tried before any kernel of the run was measured
  refine,        ///< tried against the run's best
  draft_shown,   ///< shown to who wrote a kernel from nothing
  refine_shown,  ///< shown to who made a kernel faster
};
inline constexpr std::array kValueStages{ValueStage::draft, ValueStage::refine, ValueStage::draft_shown,
                                         ValueStage::refine_shown};
std::string_view value_stage_name(ValueStage stage);  ///< stored, never renamed
Result<ValueStage> value_stage_from_name(std::string_view name);
/// Stages whose rewards are compared with all before them.
constexpr bool is_refining(ValueStage stage) {
  return stage == ValueStage::refine || stage == ValueStage::refine_shown;
}

/// A running mean of rewards. With count 0 the mean is what was assumed at the beginning.
struct Value {
  double count = 0, mean = 0;

  bool operator==(const Value&) const = default;
};

/// One experience in one stage: its mean over all tasks, and by operator family what differs from that.
struct StageValue {
  Value all;
  std::map<std::string, Value> residuals;  ///< by operator family

  /// All plus the family's residual, which counts the more the more often it was seen.
  double of(const std::string& family) const;
  bool operator==(const StageValue&) const = default;
};

/// Mean and deviation of all rewards so far (Welford).
struct Moments {
  double count = 0, mean = 0, squares = 0;

  void add(double reward);
  double deviation() const;  ///< with a floor
  bool operator==(const Moments&) const = default;
};

/// Draft stage: measured +1. By `published` anything else is -1; else rejected -1, build -0.8, crash or timeout -0.5,
/// wrong shape or side effect -0.4, wrong numbers -0.3 and up to 0 the more of them are right.
double draft_reward(const Outcome& outcome, Rule rule);

/// Refine stage: tanh(log `speed` - log `best`), with `best` the fastest before this step; -1 when it was not measured
/// (speed 0). Within the dead band of the noise it is 0, except by `published`.
double refine_reward(double speed, double best, Rule rule);

/// One reward learned. `frozen` values are left alone by the caller.
void learn(StageValue& value, const std::string& family, double reward, Rule rule);

/// By `published` the reward is z-scored with the moments before it, clipped; else it stays.
double scaled_reward(double reward, const Moments& before, Rule rule);

}  // namespace kerf::memory
