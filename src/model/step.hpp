#pragma once
// One step of a run: a proposal with what became of it. A run is the list of its steps; everything else is derived.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/dim.hpp"
#include "model/evaluation.hpp"

namespace kerf {

/// What a step was made for.
enum class Stage {
  start,   ///< a first guess of a mind
  search,  ///< asked for by the search policy
  tune,    ///< values of one kernel's tunables
  final,   ///< a finalist measured again
};
std::string_view stage_name(Stage stage);  ///< "start", ...; stored, so never renamed
std::optional<Stage> stage_from_name(std::string_view name);

/// The operation of tuning steps that were only timed quickly: they have times, but no verdict.
inline constexpr const char* kTrialOperation = "trial";
/// The proposer of kernels that a user has anyway; they are tried when nothing was shown to be faster.
inline constexpr const char* kBaselineProposer = "baseline";

/// What a proposal cost and what it was made from, beyond mind, operation and parents.
struct Provenance {
  std::string model;                 ///< of a language model; "" for minds without one
  std::string prompt;                ///< id of the prompt; "" without one
  std::vector<std::string> context;  ///< ids of the experiences, skills and documents that were shown
  std::int64_t prompt_tokens = 0, reply_tokens = 0;
  double cost_usd = 0;
  double seconds = 0;  ///< from asking to the answer

  bool operator==(const Provenance&) const = default;
};

/// One question to a model (or an agent program) and its answer.
struct Exchange {
  struct Message {
    std::string role, content;
    bool operator==(const Message&) const = default;
  };
  std::string role;  ///< what it was asked as: "policy", "evolve" (the prompt), "select" or "summarise" (skills)
  std::string model;
  std::string prompt;             ///< id of the prompt
  int turn = 1;                   ///< of its conversation
  std::vector<Message> messages;  ///< all that the model was shown
  std::string reply, reasoning;   ///< as it came; untrusted
  std::string outcome;            ///< "reply", or the name of what went wrong
  std::int64_t prompt_tokens = 0, reply_tokens = 0;
  double cost_usd = 0;
  double seconds = 0;
  std::string result{};  ///< what was made of the reply, where that is not the step's kernel

  bool operator==(const Exchange&) const = default;
};

/// The stable JSON form (docs/runs.md), and back. Text that is not UTF-8 is repaired.
std::string to_json(const Exchange& exchange);
Result<Exchange> exchange_from_json(std::string_view text);

/// The decision behind a proposal. Decisions depend on timings, so they are recorded: with them and the mind's seed a
/// run of a deterministic mind can be followed again.
struct Asked {
  std::size_t start_number = 0;            ///< which first guess
  std::optional<std::int64_t> parent;      ///< steps
  std::vector<std::int64_t> inspirations;  ///< likewise
  std::vector<std::int64_t> failures;      ///< likewise: refused kernels that were shown
  std::uint64_t seed = 0;                  ///< of the mind's random choices

  bool operator==(const Asked&) const = default;
};

/// Everything needed to replay the archive without evaluating again.
struct Step {
  std::int64_t number = 0;  ///< 1, 2, 3, ... without gaps
  Stage stage = Stage::search;
  std::string proposer, operation;    ///< the mind, and what it was asked for: "builtin", "parameter"
  std::string change;                 ///< for people
  std::vector<std::int64_t> parents;  ///< steps it descends from
  std::string name;                   ///< the candidate's label
  std::string source;                 ///< the whole candidate file, or the answer that could not be read as one
  std::string genome;                 ///< of the builtin mind; "" otherwise
  Bindings tunables;                  ///< as evaluated
  std::string direction;              ///< what was asked for: "memory+1"; "" for none
  Asked asked;
  Provenance provenance;
  std::vector<Exchange> exchanges;  ///< kept with the step, read back by RunStore::exchanges only: they are long
  Evaluation evaluation;
  std::vector<int> cell;    ///< empty when it was not measured
  std::string descriptors;  ///< JSON: what was seen in the compiled code
  std::string decision;     ///< why it was kept or not, one sentence
  bool kept = false;        ///< entered the archive
  double seconds = 0;       ///< run time at which it was reported, without pauses between resumes
};

/// A kernel whose tunables were only timed quickly: no verdict.
bool is_trial(const Step& step);
/// A finalist measured again.
bool is_confirmation(const Step& step);
/// Kernels that passed in the search and were refused when they were measured again: nothing may come of them.
std::set<std::int64_t> refuted_steps(std::span<const Step> steps);
/// The steps, with its refusal in place of what a refuted kernel measured in the search: what may be learned from.
std::vector<Step> with_refusals(std::vector<Step> steps);
/// Not evaluated, because its compiled code was known.
bool is_duplicate(const Step& step);
/// A kernel that a user has anyway; beyond the budget, because whether it is tried depends on the timings.
bool is_fallback(const Step& step);

}  // namespace kerf
