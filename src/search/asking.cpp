#include "search/asking.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.hpp"
#include "inspect/descriptors.hpp"
#include "judge/judge.hpp"
#include "search/bandit.hpp"
#include "search/duplicates.hpp"

namespace kerf {
namespace {

constexpr int kAttempts = 60;       // proposals that are none or known, before an operation's turn is over
constexpr int kFailuresInARow = 3;  // after which a mind is no longer asked
constexpr std::size_t kShownFailures = 3;
constexpr std::size_t kShownTimings = 12;
constexpr std::size_t kLongestAnswer = 4u << 20;  // bytes of a refused answer that are kept

void refuse(Planned& planned, Gate gate, std::string message) {
  planned.refused = true;
  planned.step.evaluation.candidate = planned.step.name;
  planned.step.evaluation.candidate_id = sha256_hex(planned.step.source);
  planned.step.evaluation.outcome = Rejected{gate, std::move(message)};
}

}  // namespace

std::vector<int> foreseen_cell(const std::string& source) {
  const auto candidate = parse_candidate("", source);
  if (!candidate) return {};
  const auto tunables = resolve_tunables(*candidate, {});
  return describe({}, *candidate, tunables ? *tunables : Bindings{}).cell;
}

Asking::Asking(std::span<Proposer* const> minds, const SearchState& state, Policy& policy, const AskOptions& options)
    : minds_(minds.begin(), minds.end()), state_(state), policy_(policy), options_(options) {}

Proposer& Asking::mind(const std::string& name) const {
  return **std::find_if(minds_.begin(), minds_.end(), [&](const Proposer* mind) { return mind->name() == name; });
}

bool Asking::is_asked(const std::string& mind) const {
  const auto failures = failures_.find(mind);
  return failures == failures_.end() || failures->second < kFailuresInARow;
}

bool Asking::failed(const std::string& mind) { return ++failures_[mind] >= kFailuresInARow; }

std::vector<Operation> Asking::operations(bool slow) const {
  std::vector<Operation> all;
  for (const Proposer* mind : minds_) {
    if ((mind->questions_at_once() > 0) != slow || !is_asked(std::string(mind->name()))) continue;
    for (OperationInfo& info : mind->operations()) all.push_back({std::string(mind->name()), std::move(info)});
  }
  return all;
}

/// Decisions draw from one stream per proposal, so that a run that was interrupted goes on as it would have.
Rng Asking::stream(int ahead) const { return Rng(options_.seed).fork(fmt::format("ask {}", state_.asked() + ahead)); }

int Asking::start_limit() const {
  if (options_.evaluations <= 0) return options_.starts;
  return std::min(options_.starts, std::max(1, static_cast<int>(options_.start_share * options_.evaluations)));
}

Question Asking::to_question(const Operation& operation, const Choice& choice, Rng& rng, bool with_failures) const {
  Question question;
  question.operation = operation;
  question.request.operation = operation.info.name;
  question.request.direction = choice.direction;
  question.request.seed = question.asked.seed = rng.bits();
  question.asked.parent = choice.parent;
  question.asked.inspirations = choice.inspirations;
  if (choice.parent) question.request.parent = state_.record(*choice.parent);
  for (const std::int64_t step : choice.inspirations) question.request.inspirations.push_back(state_.record(step));
  if (with_failures) {
    if (choice.parent) question.request.parent->timed = state_.timed_values(*choice.parent, kShownTimings);
    question.asked.failures = state_.failures(choice.parent, kShownFailures);
    for (const std::int64_t step : question.asked.failures) question.request.failures.push_back(state_.record(step));
  }
  return question;
}

/// Has a random stream of its own: after an interruption known guesses are asked for again, which moves no other draw.
Question Asking::start_question(const Operation& operation, std::size_t number, bool with_failures) const {
  Rng rng = Rng(options_.seed).fork(fmt::format("start {} {}", operation.proposer, number));
  Question question = to_question(operation, {}, rng, with_failures);
  question.stage = Stage::start;
  question.request.start_number = question.asked.start_number = number;
  return question;
}

/// A model that is asked for a new kernel may go on with a refused one that was to make another faster: that is no
/// draft.
std::string Asking::made_by(const Question& question, const Step& step) const {
  const std::int64_t parent = step.parents.empty() ? 0 : step.parents.front();
  if (parent >= 1 && parent < state_.next_number() && fitness_of(state_.step(parent).evaluation).measured())
    for (const Proposer* one : minds_)
      if (one->name() == question.operation.proposer && one->questions_at_once() > 0)
        for (const OperationInfo& info : one->operations())
          if (info.needs_parent && !info.needs_partner) return info.name;
  return question.operation.info.name;
}

Planned Asking::receive(const Question& question, Proposal proposal) {
  Planned planned;
  Step& step = planned.step;
  step.stage = question.stage;
  step.proposer = question.operation.proposer;
  step.operation = question.operation.info.name;
  step.change = std::move(proposal.change);
  step.parents = std::move(proposal.parents);
  step.name = std::move(proposal.name);
  step.source = std::move(proposal.source);
  step.genome = std::move(proposal.genome);
  step.provenance = std::move(proposal.provenance);
  step.exchanges = std::move(proposal.exchanges);
  step.asked = question.asked;
  if (!question.request.parent) step.operation = made_by(question, step);
  if (question.request.direction) step.direction = direction_text(*question.request.direction);
  if (step.source.size() > kLongestAnswer) {
    const std::size_t size = step.source.size();
    step.source.resize(kLongestAnswer);
    refuse(planned, Gate::parse, fmt::format("the answer has {} bytes; a kernel has at most {}", size, kLongestAnswer));
    return planned;
  }
  if (!proposal.unreadable.empty()) {
    refuse(planned, Gate::parse, std::move(proposal.unreadable));
    return planned;
  }
  auto candidate = parse_candidate(step.name, step.source);
  auto tunables = candidate ? resolve_tunables(*candidate, {}) : fail(Errc::invalid_input, candidate.error().message);
  if (!tunables) {
    refuse(planned, Gate::parse, tunables.error().message);
    return planned;
  }
  planned.candidate = *std::move(candidate);
  if (planned.candidate.target.empty()) planned.candidate.target = options_.target;
  step.tunables = *std::move(tunables);
  const std::string identity = source_identity(planned.candidate, step.tunables);
  if (const auto twin = state_.step_with_source(identity))
    refuse(planned, Gate::duplicate, fmt::format("the source is that of step {}", *twin));
  else if (!planned_.insert(identity).second)
    refuse(planned, Gate::duplicate, "the source is that of a kernel that is being evaluated");
  return planned;
}

Result<std::optional<Planned>> Asking::ask(const Question& question, bool& known) {
  known = false;
  last_asked_ = question.operation.proposer;
  KERF_TRY(std::optional<Proposal> proposal, mind(question.operation.proposer).propose(question.request));
  if (!proposal) return std::optional<Planned>{};
  Planned planned = receive(question, *std::move(proposal));
  known = planned.refused && is_duplicate(planned.step);
  if (known) return std::optional<Planned>{};
  return std::optional(std::move(planned));
}

/// The kernels that a user gave, or the minds' own first guesses, in turn.
Result<std::optional<Planned>> Asking::next_start(bool given) {
  for (const Operation& operation : operations(false)) {
    if (operation.info.name != kStartOperation || operation.info.given != given) continue;
    std::size_t& number = next_start_[operation.proposer];
    for (bool known = true; known;) {
      const Question question = start_question(operation, number, false);
      KERF_TRY(std::optional<Planned> planned, ask(question, known));
      if (planned || known) ++number;
      if (planned) return planned;
    }
  }
  return std::optional<Planned>{};
}

Result<std::optional<Planned>> Asking::next(int ahead) {
  Rng rng = stream(ahead);
  KERF_TRY(std::optional<Planned> given, next_start(true));
  if (given) return given;
  if (policy_.wants_starts() && state_.starts() + ahead < start_limit()) {
    KERF_TRY(std::optional<Planned> planned, next_start(false));
    if (planned) return planned;
  }
  std::vector<Operation> offered = operations(false);
  std::map<std::string, int> attempts;
  while (const auto choice = policy_.choose(state_.archive(), offered, rng)) {
    const Operation operation = offered[choice->operation];
    bool known = false;
    KERF_TRY(std::optional<Planned> planned, ask(to_question(operation, *choice, rng, false), known));
    if (planned) return planned;
    if (++attempts[operation.arm()] >= kAttempts)
      offered.erase(offered.begin() + static_cast<std::ptrdiff_t>(choice->operation));
  }
  return std::optional<Planned>{};
}

std::optional<Question> Asking::question(const Proposer& mind, int ahead) {
  Rng rng = stream(ahead);
  const std::string name(mind.name());
  std::vector<Operation> offered;
  for (OperationInfo& info : mind.operations()) {
    // The first guesses of a slow mind are asked for while there is nothing else to work on.
    if (info.name == kStartOperation && state_.archive().best() == nullptr && policy_.wants_starts()) {
      return start_question({name, std::move(info)}, next_start_[name]++, true);
    }
    offered.push_back({name, std::move(info)});
  }
  const auto choice = policy_.choose(state_.archive(), offered, rng);
  if (!choice) return std::nullopt;
  return to_question(offered[choice->operation], *choice, rng, true);
}

}  // namespace kerf
