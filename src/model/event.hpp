#pragma once
// The story of a run while it happens: one stream of events that the console, the store's events.jsonl and other
// viewers read.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "model/evaluation.hpp"
#include "model/step.hpp"

namespace kerf {

/// One finished tier of judging a candidate.
struct TierEvent {
  std::string candidate;
  std::string tier;  ///< "parse", "compile", "static", "small shape", "all shapes", "timing"
  bool ok = true;
  double ms = 0;
  std::string detail;  ///< a few words: shapes and data sets checked, samples taken, or why it failed
};

/// What minds have spent on answers, of what they may; limits of 0: none.
struct Spending {
  std::int64_t tokens = 0, token_limit = 0;
  double cost_usd = 0, cost_limit_usd = 0;
  std::optional<std::string> used_up{};  ///< why nothing more will be answered, for people

  bool anything() const { return tokens > 0 || cost_usd > 0 || token_limit > 0 || cost_limit_usd > 0; }
};

/// Where a search stands.
struct SearchProgress {
  std::optional<Stage> stage;  ///< of the last or current step; none before the first
  std::int64_t steps = 0;
  int evaluations = 0;               ///< without duplicates and confirmations
  int evaluation_limit = 0;          ///< 0: none
  int duplicates = 0;                ///< of compiled code, not evaluated
  int failures = 0;                  ///< evaluated or unreadable, not measured
  int confirmed = 0, finalists = 0;  ///< finalists measured again, of so many; 0 of 0 before the end
  int asking = 0;                    ///< proposals that minds are working on
  std::string asked;                 ///< the last of them: "llm: refine"
  double asked_seconds = 0;          ///< how long ago the oldest of them was asked for
  double seconds = 0;                ///< run time, without pauses between resumes
  double time_limit = 0;             ///< seconds; 0: none
  double rate = 0;                   ///< evaluations a minute, of this process
  int since_improvement = 0, patience = 0;
  int cells = 0;               ///< with at least one elite, of 64
  std::int64_t best_step = 0;  ///< 0: none yet
  std::string best_name;
  std::optional<Speedup> best;
  std::optional<SpeedOfLight> speed_of_light;  ///< of the best
  Spending spending;                           ///< of the minds that ask models
};

/// A mind was asked for a proposal; `number` counts the asked ones of this process.
struct ProposalAsked {
  std::int64_t number = 0;
  std::string proposer, operation;
};
/// A candidate is about to be evaluated: `step` has no evaluation yet.
struct CandidateStarted {
  Step step;
  SearchProgress progress;
};
/// The step is safe in the store.
struct StepFinished {
  Step step;
  SearchProgress progress;
  Speedup estimate{};  ///< by way of kernels it was timed in turn with; zeros when it was not timed
};
/// A remark for people: "preparing data for shape 'default'".
struct RunNote {
  std::string text;
};
/// Something that happened to the run itself: "started", "resumed", "stopped"; kept in the store.
struct RunMark {
  std::string kind;
  std::map<std::string, std::string> details;
};
/// Nothing happened for a second: for people who watch, never stored.
struct StillWaiting {
  SearchProgress progress;
};
using RunEvent = std::variant<ProposalAsked, CandidateStarted, TierEvent, StepFinished, RunNote, RunMark, StillWaiting>;

/// Calls come from one thread, one at a time.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_event(const RunEvent& event) = 0;
};

class NullRunObserver final : public RunObserver {
 public:
  void on_event(const RunEvent&) override {}
};

/// The event as one line of JSON (docs/runs.md), without sources.
std::string to_json(const RunEvent& event);

}  // namespace kerf
