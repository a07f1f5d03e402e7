#include "search/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "inspect/descriptors.hpp"
#include "judge/judge.hpp"
#include "search/bandit.hpp"
#include "search/duplicates.hpp"
#include "search/search_settings.hpp"
#include "search/search_state.hpp"

namespace kerf {
namespace {

constexpr int kAttempts = 60;  // proposals that are none or known, before an operation's turn is over
constexpr const char* kInterrupted = "interrupted";

/// A proposal on its way to becoming a step.
struct Planned {
  Step step;  // without number and evaluation
  Candidate candidate;
};

struct Answer {
  std::optional<Planned> planned;
  bool known = false;  // proposed, but evaluated before
};

class Search {
 public:
  Search(const SearchInputs& inputs, const SearchOptions& options, RunObserver& observer,
         std::unique_ptr<Policy> policy)
      : inputs_(inputs),
        options_(options),
        observer_(observer),
        state_(std::move(policy), options.archive),
        began_(inputs.clock.now()) {
    for (Proposer* proposer : inputs.proposers)
      for (const std::string& name : proposer->operations())
        operations_.push_back({std::string(proposer->name()), name});
  }

  Status replay() {
    KERF_TRY(std::vector<Step> steps, inputs_.store.steps());
    for (Step& step : steps) state_.observe(step);
    seconds_before_ = state_.seconds();
    evaluations_before_ = state_.evaluations();
    return {};
  }

  /// "" while the search should go on.
  std::string reason_to_stop() const {
    if (inputs_.interrupted) return kInterrupted;
    if (options_.evaluations > 0 && state_.evaluations() >= options_.evaluations)
      return fmt::format("the budget of {} evaluations is used up", options_.evaluations);
    if (options_.seconds > 0 && seconds() >= options_.seconds)
      return fmt::format("the budget of {:.0f} s is used up", options_.seconds);
    if (options_.patience > 0 && state_.since_improvement() >= options_.patience)
      return fmt::format("no improvement in {} evaluations", state_.since_improvement());
    if (at_the_floor())
      return fmt::format("the best kernel reaches {:.0f} % of the speed of light", 100 * options_.floor_fraction);
    return "";
  }

  /// The next proposals: first guesses first, then what the policy asks for. None is known already. Empty: nothing new
  /// is left.
  Result<std::vector<Planned>> plan() {
    std::vector<Planned> planned;
    std::set<std::string> sources;
    int room = std::max(1, options_.at_once);
    if (options_.evaluations > 0) room = std::min(room, options_.evaluations - state_.evaluations());
    for (int i = 0; i < room; ++i) {
      const std::int64_t number = state_.next_number() + i;
      Rng rng = Rng(options_.seed).fork(fmt::format("step {}", number));
      KERF_TRY(std::optional<Planned> next, propose(i, sources, rng));
      if (!next) break;
      planned.push_back(*std::move(next));
    }
    return planned;
  }

  void prefetch(const std::vector<Planned>& planned) {
    std::vector<std::pair<const Candidate*, Bindings>> next;
    for (const Planned& one : planned) next.emplace_back(&one.candidate, one.step.tunables);
    if (next.size() > 1) inputs_.evaluator.prefetch(next);
  }

  /// The planned step with its evaluation and cell; none when it was interrupted before there was a verdict.
  Result<std::optional<Step>> evaluate(const Planned& planned, Effort effort, const Evaluation* known = nullptr) {
    Step step = planned.step;
    step.number = state_.next_number();
    observer_.on_event(CandidateStarted{step, progress(step.stage)});
    KERF_TRY(const auto inspection, inputs_.evaluator.inspect(planned.candidate, step.tunables));
    const auto twin = inspection && effort == Effort::search ? state_.step_with_code(inspection->code) : std::nullopt;
    if (twin) {
      step.evaluation = duplicate_of(*twin, planned);
    } else if (known != nullptr) {
      step.evaluation = *known;
    } else {
      KERF_TRY(step.evaluation, inputs_.evaluator.evaluate(planned.candidate, step.tunables, effort, judge_observer_));
      // The first one measured is the scale of all others.
      const bool first = options_.archive.noise_aware && state_.archive().best() == nullptr &&
                         std::holds_alternative<Measurement>(step.evaluation.outcome);
      if (effort == Effort::search && inspection && !compared_with(step.evaluation, effort) &&
          (first || state_.is_contested(step.evaluation, inspection->descriptors.cell))) {
        KERF_TRY(step.evaluation,
                 inputs_.evaluator.evaluate(planned.candidate, step.tunables, Effort::careful, judge_observer_));
      }
    }
    if (!twin) KERF_TRY_VOID(compare_with_best(planned, effort, step.evaluation));
    const bool measured = std::holds_alternative<Measurement>(step.evaluation.outcome);
    if (inputs_.interrupted && !measured) return std::optional<Step>{};  // the interrupt may have hit its processes
    if (inspection) {
      step.descriptors = to_json(inspection->descriptors, inspection->code);
      if (measured) step.cell = step.evaluation.cell = inspection->descriptors.cell;
    } else if (measured) {
      return fail(Errc::tool_failed, "a kernel that was measured cannot be compiled again: " + step.name);
    }
    return std::optional<Step>(std::move(step));
  }

  /// Inserts, stores, reports; in this order.
  Status take(Step step) {
    step.seconds = seconds();
    state_.observe(step);
    KERF_TRY_VOID(inputs_.store.append(step));
    observer_.on_event(StepFinished{step, progress(step.stage)});
    return {};
  }

  /// The best, then those with the largest figures, are measured again; the search's own figures favour the lucky ones.
  Status confirm() {
    std::vector<Elite> finalists = state_.archive().elites();
    std::stable_partition(finalists.begin(), finalists.end(),
                          [&](const Elite& elite) { return elite.step == state_.archive().best()->step; });
    int confirmed = 0;
    for (const Elite& elite : finalists) {
      if (confirmed == options_.finalists || inputs_.interrupted) break;
      if (state_.confirmation_of(elite.step)) {
        ++confirmed;
        continue;
      }
      const Planned again =
          variant_of(elite.step, Stage::final, "confirm", fmt::format("step {} measured again", elite.step));
      KERF_TRY(std::optional<Step> step, evaluate(again, Effort::final));
      if (!step) break;
      if (std::holds_alternative<Measurement>(step->evaluation.outcome)) ++confirmed;
      KERF_TRY_VOID(take(*std::move(step)));
    }
    return {};
  }

  /// Searches the tunables of the best kernel by themselves when it is time for that; true when it did.
  Result<bool> tune_when_due();

  SearchProgress progress(std::optional<Stage> stage) const;
  const SearchState& state() const { return state_; }

 private:
  double seconds() const {
    return seconds_before_ + std::chrono::duration<double>(inputs_.clock.now() - began_).count();
  }
  Planned variant_of(std::int64_t step, Stage stage, const char* operation, std::string change) const;
  Result<std::optional<Planned>> tuned_variant(std::int64_t step, const Bindings& tunables) const;
  std::optional<std::int64_t> compared_with(const Evaluation& evaluation, Effort effort) const;
  Status compare_with_best(const Planned& planned, Effort effort, Evaluation& evaluation);
  double share_used() const;
  bool time_to_tune() const;
  bool at_the_floor() const;
  Evaluation duplicate_of(std::int64_t twin, const Planned& planned) const;
  Result<std::optional<Planned>> propose(int ahead, std::set<std::string>& sources, Rng& rng);
  Result<std::optional<Planned>> next_start(std::set<std::string>& sources, Rng& rng);
  Result<Answer> ask(const Operation& operation, const ProposalRequest& request, Stage stage,
                     std::set<std::string>& sources, Rng& rng);

  const SearchInputs& inputs_;
  const SearchOptions& options_;
  RunObserver& observer_;
  /// The judge's own events, as part of the run's.
  struct JudgeObserver final : Observer {
    explicit JudgeObserver(RunObserver& into) : observer(into) {}
    void on_tier(const TierEvent& event) override { observer.on_event(event); }
    void on_note(const std::string& text) override { observer.on_event(RunNote{text}); }
    RunObserver& observer;
  } judge_observer_{observer_};
  SearchState state_;
  std::vector<Operation> operations_;
  std::map<std::string, std::size_t> next_start_;  // per proposer
  Nanoseconds began_;
  double seconds_before_ = 0;
  int evaluations_before_ = 0;
};

/// By the tokens of its source, before it was compiled.
Cell foreseen_cell(const Candidate& candidate) {
  const auto tunables = resolve_tunables(candidate, {});
  return describe({}, candidate, tunables ? *tunables : Bindings{}).cell;
}

Result<Answer> Search::ask(const Operation& operation, const ProposalRequest& request, Stage stage,
                           std::set<std::string>& sources, Rng& rng) {
  const auto proposer = std::find_if(inputs_.proposers.begin(), inputs_.proposers.end(),
                                     [&](const Proposer* p) { return p->name() == operation.proposer; });
  KERF_TRY(std::optional<Proposal> proposal, (*proposer)->propose(request, rng));
  if (!proposal) return Answer{};
  Planned planned;
  planned.candidate = std::move(proposal->candidate);
  KERF_TRY(planned.step.tunables, resolve_tunables(planned.candidate, {}));
  const std::string identity = source_identity(planned.candidate, planned.step.tunables);
  if (state_.knows_source(identity) || !sources.insert(identity).second) return Answer{{}, true};
  Step& step = planned.step;
  step.stage = stage;
  step.proposer = operation.proposer;
  step.operation = operation.name;
  step.change = std::move(proposal->change);
  step.parents = std::move(proposal->parents);
  step.name = planned.candidate.name;
  step.source = planned.candidate.source;
  step.genome = std::move(proposal->genome);
  if (request.direction) step.direction = direction_text(*request.direction);
  return Answer{std::move(planned), false};
}

/// The proposers' own first guesses, in turn.
Result<std::optional<Planned>> Search::next_start(std::set<std::string>& sources, Rng& rng) {
  for (const Operation& operation : operations_) {
    if (operation.name != "start") continue;
    std::size_t& number = next_start_[operation.proposer];
    for (Answer answer{{}, true}; answer.known;) {
      ProposalRequest request;
      request.operation = operation.name;
      request.start_number = number;
      KERF_TRY(answer, ask(operation, request, Stage::start, sources, rng));
      if (answer.planned || answer.known) ++number;
      if (answer.planned) return std::move(answer.planned);
    }
  }
  return std::optional<Planned>{};
}

Result<std::optional<Planned>> Search::propose(int ahead, std::set<std::string>& sources, Rng& rng) {
  const int starts =
      options_.evaluations > 0
          ? std::min(options_.starts, std::max(1, static_cast<int>(options_.start_share * options_.evaluations)))
          : options_.starts;
  if (state_.policy().wants_starts() && state_.starts() + ahead < starts) {
    KERF_TRY(std::optional<Planned> planned, next_start(sources, rng));
    if (planned) return planned;
  }
  std::vector<Operation> offered = operations_;
  std::map<std::string, int> attempts;
  while (const auto choice = state_.policy().choose(state_.archive(), offered, rng)) {
    const Operation operation = offered[choice->operation];
    ProposalRequest request;
    request.operation = operation.name;
    if (choice->parent) request.parent = state_.ancestor(*choice->parent);
    for (const std::int64_t step : choice->inspirations) request.inspirations.push_back(state_.ancestor(step));
    request.direction = choice->direction;
    request.foresee = foreseen_cell;
    KERF_TRY(Answer answer, ask(operation, request, Stage::search, sources, rng));
    if (answer.planned) return std::move(answer.planned);
    if (++attempts[operation.arm()] >= kAttempts)
      offered.erase(offered.begin() + static_cast<std::ptrdiff_t>(choice->operation));
  }
  return std::optional<Planned>{};
}

/// The same kernel again, for another purpose.
Planned Search::variant_of(std::int64_t number, Stage stage, const char* operation, std::string change) const {
  const Step& old = state_.step(number);
  Planned again{{}, *state_.ancestor(number).candidate};
  Step& step = again.step;
  step.stage = stage;
  step.proposer = old.proposer;
  step.operation = operation;
  step.change = std::move(change);
  step.parents = {old.number};
  step.name = old.name;
  step.source = old.source;
  step.genome = old.genome;
  step.tunables = old.tunables;
  return again;
}

/// With other values of its tunables; none when its header cannot take them.
Result<std::optional<Planned>> Search::tuned_variant(std::int64_t number, const Bindings& tunables) const {
  std::string change = "tuned";
  for (const auto& [name, value] : tunables)
    if (const auto old = state_.step(number).tunables.find(name);
        old != state_.step(number).tunables.end() && old->second != value)
      change += fmt::format(" {} {} -> {}", name, old->second, value);
  Planned planned = variant_of(number, Stage::tune, "tune", change);
  const auto source = with_defaults(planned.step.source, tunables);
  if (!source) return std::optional<Planned>{};
  KERF_TRY(Candidate candidate, parse_candidate(planned.step.name, *source));
  candidate.target = planned.candidate.target;
  planned.candidate = std::move(candidate);
  planned.step.source = *source;
  planned.step.tunables = tunables;
  return std::optional<Planned>(std::move(planned));
}

/// The step that this kernel must be timed against before anything is made of its speedup: the best so far if it comes
/// near that, among the finalists the first that was confirmed. None where the noise is no concern of the search.
std::optional<std::int64_t> Search::compared_with(const Evaluation& evaluation, Effort effort) const {
  constexpr double kNear = 0.35;  // a logarithm: speedups measured minutes apart differ by as much on busy machines
  if (!options_.archive.noise_aware) return std::nullopt;
  const Fitness fitness = fitness_of(evaluation);
  if (!fitness.measured()) return std::nullopt;
  if (effort == Effort::final) return state_.first_confirmation();
  const Elite* best = state_.archive().best();
  if (best == nullptr || fitness.log_speedup < best->fitness.log_speedup - kNear) return std::nullopt;
  return best->step;
}

Status Search::compare_with_best(const Planned& planned, Effort effort, Evaluation& evaluation) {
  const auto number = compared_with(evaluation, effort);
  if (!number) return {};
  const Ancestor best = state_.ancestor(*number);
  const PairedKernel ours{planned.candidate, planned.step.tunables},
      theirs{*best.candidate, state_.step(*number).tunables};
  KERF_TRY(PairedOutcome compared, inputs_.evaluator.compare(ours, theirs, effort));
  constexpr double kMayBeBetter = 0.97;
  if (const auto& first = compared.speedup;
      first && effort == Effort::search && first->ratio > kMayBeBetter && first->low <= 1) {
    KERF_TRY(compared, inputs_.evaluator.compare(ours, theirs, Effort::careful));  // longer, to decide it
  }
  if (compared.refused) evaluation.outcome = *std::move(compared.refused);
  if (const auto& speedup = compared.speedup)
    std::get<Measurement>(evaluation.outcome).comparison = PairedComparison{
        *number, std::exp(fitness_of(*best.evaluation).log_speedup), speedup->ratio, speedup->low, speedup->high};
  return {};
}

/// How much of the budget is gone, 0 to 1; without one, how much of the patience.
double Search::share_used() const {
  double used = 0;
  if (options_.evaluations > 0) used = static_cast<double>(state_.evaluations()) / options_.evaluations;
  if (options_.seconds > 0) used = std::max(used, seconds() / options_.seconds);
  if (options_.patience > 0) used = std::max(used, static_cast<double>(state_.since_improvement()) / options_.patience);
  return used;
}

/// Tuning leaves the last tenth of the time to other things.
bool Search::time_to_tune() const { return options_.seconds <= 0 || seconds() < 0.9 * options_.seconds; }

Result<bool> Search::tune_when_due() {
  constexpr int kFewest = 4, kMost = 40;  // quick timings
  if (options_.search != "kerf") return false;
  const auto open = std::find_if(state_.tunings().begin(), state_.tunings().end(),
                                 [](const auto& tuning) { return !tuning.second.finished; });
  std::int64_t parent = 0;
  std::optional<Tuned> tuned;
  if (open != state_.tunings().end()) {
    parent = open->first;  // interrupted: the trials are known, the verdict is not
    tuned = Tuned{open->second.best, {}};
  } else {
    const int done = static_cast<int>(state_.tunings().size());
    const Elite* best = state_.archive().best();
    const int left = options_.evaluations > 0 ? options_.evaluations - state_.evaluations() : kMost * 2;
    if (done >= options_.tunings || best == nullptr || left < 2 * kFewest) return false;
    if (share_used() < 0.4 + 0.35 * done || state_.tunings().contains(best->step)) return false;
    const Candidate candidate = *state_.ancestor(best->step).candidate;
    if (std::none_of(candidate.tunables.begin(), candidate.tunables.end(),
                     [](const Tunable& t) { return t.values.size() > 1; }))
      return false;
    parent = best->step;
    Status stored;
    const OnTrial on_trial = [&](const Evaluation& trial) {
      Planned planned = variant_of(parent, Stage::tune, kTrialOperation, "a quick timing of other values");
      planned.step.number = state_.next_number();
      planned.step.tunables = trial.tunables;
      planned.step.evaluation = trial;
      if (stored) stored = take(std::move(planned.step));
    };
    const int trials = std::clamp(static_cast<int>(options_.tune_share * left), kFewest, kMost);
    auto found = inputs_.evaluator.tune(
        candidate, trials, Rng(options_.seed).fork(fmt::format("tune {}", parent)).bits(), on_trial,
        [&] { return !inputs_.interrupted && stored && time_to_tune(); }, judge_observer_);
    KERF_TRY_VOID(stored);
    if (inputs_.interrupted) return true;
    if (!found && found.error().code != Errc::invalid_input) return tl::unexpected<Error>(found.error());
    if (found) tuned = *std::move(found);
  }
  // Nothing to tune, or nothing better: the step itself stands, and its known code ends the tuning.
  std::optional<Planned> planned;
  if (tuned && !tuned->best.empty()) {
    KERF_TRY(planned, tuned_variant(parent, tuned->best));
  }
  if (!planned) planned = variant_of(parent, Stage::tune, "tune", "tuning found nothing better");
  const bool judged =
      tuned && planned->step.tunables == tuned->verdict.tunables && !tuned->verdict.candidate_id.empty();
  KERF_TRY(std::optional<Step> step, evaluate(*planned, Effort::search, judged ? &tuned->verdict : nullptr));
  if (step) {
    KERF_TRY_VOID(take(*std::move(step)));
  }
  return true;
}

Evaluation Search::duplicate_of(std::int64_t twin, const Planned& planned) const {
  Evaluation evaluation = state_.step(twin).evaluation;
  evaluation.candidate = planned.candidate.name;
  evaluation.candidate_id = planned.candidate.id;
  evaluation.tunables = planned.step.tunables;
  evaluation.cell.clear();
  evaluation.tiers.clear();
  evaluation.outcome = Rejected{Gate::duplicate, fmt::format("the compiled code is that of step {}", twin)};
  return evaluation;
}

bool Search::at_the_floor() const {
  const std::int64_t best = state_.best_step();
  if (best == 0) return false;
  const auto& measurement = std::get<Measurement>(state_.step(best).evaluation.outcome);
  return !measurement.shapes.empty() &&
         std::all_of(measurement.shapes.begin(), measurement.shapes.end(), [&](const ShapeMeasurement& shape) {
           return shape.speed_of_light && shape.speed_of_light->fraction >= options_.floor_fraction;
         });
}

SearchProgress Search::progress(std::optional<Stage> stage) const {
  SearchProgress progress;
  if (stage) progress.stage = stage_name(*stage);
  progress.steps = static_cast<std::int64_t>(state_.steps().size());
  progress.evaluations = state_.evaluations();
  progress.evaluation_limit = options_.evaluations;
  progress.duplicates = state_.duplicates();
  progress.failures = state_.failures();
  progress.seconds = seconds();
  progress.time_limit = options_.seconds;
  const double spent = progress.seconds - seconds_before_;
  if (spent > 0) progress.rate = 60 * (state_.evaluations() - evaluations_before_) / spent;
  progress.since_improvement = state_.since_improvement();
  progress.patience = options_.patience;
  progress.cells = static_cast<int>(state_.archive().cells().size());
  progress.best_step = state_.best_step();
  if (progress.best_step == 0) return progress;
  const Step& best = state_.step(progress.best_step);
  const auto& measurement = std::get<Measurement>(best.evaluation.outcome);
  progress.best_name = best.name;
  progress.best = measurement.speedup;
  if (const auto* shape = main_shape(measurement)) progress.speed_of_light = shape->speed_of_light;
  return progress;
}

}  // namespace

Result<SearchResult> optimize(const SearchInputs& inputs, const SearchOptions& asked, RunObserver& observer) {
  SearchOptions options = asked;
  options.archive = archive_options(options);
  KERF_TRY(auto policy, make_policy(options.search));
  Search search(inputs, options, observer, std::move(policy));
  KERF_TRY_VOID(search.replay());
  std::string stopped;
  while ((stopped = search.reason_to_stop()).empty()) {
    KERF_TRY(const bool tuned, search.tune_when_due());
    if (tuned) continue;
    KERF_TRY(const std::vector<Planned> planned,
             search.plan());  // operation, parent, direction, proposal; nothing known
    if (planned.empty()) {
      stopped = "nothing new is left to try";
      break;
    }
    search.prefetch(planned);
    for (const Planned& next : planned) {
      KERF_TRY(std::optional<Step> step,
               search.evaluate(next, Effort::search));  // compile, compare code, judge, describe
      if (!step) break;
      KERF_TRY_VOID(search.take(*std::move(step)));  // archive, store, report
      if (!search.reason_to_stop().empty()) break;
    }
  }
  if (stopped != kInterrupted) {
    KERF_TRY_VOID(search.confirm());
  }
  SearchResult result;
  result.interrupted = inputs.interrupted;
  result.stopped = result.interrupted ? kInterrupted : stopped;
  result.best_step = search.state().best_step();
  result.progress = search.progress({});
  KERF_TRY_VOID(inputs.store.set("best_step", std::to_string(result.best_step)));
  KERF_TRY_VOID(inputs.store.set("elapsed_seconds", fmt::format("{:.3f}", result.progress.seconds)));
  if (!result.interrupted) {
    KERF_TRY_VOID(inputs.store.set("finished", stopped));
  }
  KERF_TRY_VOID(inputs.store.note("stopped", {{"reason", result.stopped}}));
  return result;
}

}  // namespace kerf
