#pragma once
// What to ask minds for next, and what to make of their answers.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/candidate.hpp"
#include "propose/proposer.hpp"
#include "search/search_state.hpp"

namespace kerf {

/// A proposal on its way to becoming a step: read, not yet evaluated.
struct Planned {
  Step step;                 ///< without number; with an evaluation when the answer was refused unread
  Candidate candidate;       ///< empty when it was refused
  bool refused = false;      ///< the step is complete: no kernel could be read from the answer, or it is known
  std::int64_t follows = 0;  ///< the recorded step it repeats; 0: none
};

/// A question as it was decided: whom to ask, what, and what is recorded of it.
struct Question {
  Operation operation;
  ProposalRequest request;
  Asked asked;
  Stage stage = Stage::search;
};

/// What decisions depend on; the budgets say how many first guesses there are.
struct AskOptions {
  std::string target{};  ///< of answers that have no `target:` line
  std::uint64_t seed = 1;
  int starts = 12;
  int evaluations = 0;
  double start_share = 0.4;
};

/// Not thread-safe.
class Asking {
 public:
  Asking(std::span<Proposer* const> minds, const SearchState& state, Policy& policy, const AskOptions& options);

  /// The next proposal of the minds that answer at once: kernels that a user gave, first guesses if the policy wants
  /// them, then what it asks for. Never known already. None when nothing new is left. `ahead`: proposals that are
  /// planned but not yet steps.
  Result<std::optional<Planned>> next(int ahead);

  /// A question for a mind that takes its time; none when it cannot be asked for anything now.
  std::optional<Question> question(const Proposer& mind, int ahead);

  /// Reads an answer. What is not a kernel, or is known, becomes a refused step with its reason.
  Planned receive(const Question& question, Proposal proposal);

  /// A mind could not be asked. True when it has failed so often that it is no longer asked.
  bool failed(const std::string& mind);
  void answered(const std::string& mind) { failures_[mind] = 0; }
  bool is_asked(const std::string& mind) const;
  const std::string& last_asked() const { return last_asked_; }  ///< the mind that `next` asked last

 private:
  Result<std::optional<Planned>> ask(const Question& question, bool& known);
  Result<std::optional<Planned>> next_start(bool given);
  Question to_question(const Operation& operation, const Choice& choice, Rng& rng, bool with_failures) const;
  Question start_question(const Operation& operation, std::size_t number, bool with_failures) const;
  std::vector<Operation> operations(bool slow) const;
  Proposer& mind(const std::string& name) const;
  int start_limit() const;
  std::string made_by(const Question& question, const Step& step) const;  ///< the operation
  Rng stream(int ahead) const;

  std::vector<Proposer*> minds_;
  const SearchState& state_;
  Policy& policy_;
  AskOptions options_;
  std::string last_asked_;
  std::map<std::string, std::size_t> next_start_;  // per mind
  std::map<std::string, int> failures_;            // in a row, per mind
  std::set<std::string> planned_;                  // identities of proposals that are not yet steps
};

/// The cell a candidate file would land in, by the tokens of its text; empty when it cannot be read.
std::vector<int> foreseen_cell(const std::string& source);

}  // namespace kerf
