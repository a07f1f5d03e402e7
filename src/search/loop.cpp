#include "search/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "inspect/descriptors.hpp"
#include "judge/judge.hpp"
#include "search/search.hpp"
#include "search/search_progress.hpp"
#include "search/search_settings.hpp"
#include "search/variants.hpp"

namespace kerf {
namespace {

constexpr const char* kInterrupted = "interrupted";
constexpr double kSilence = 1;                    // seconds after which a watcher is told that the search still waits
constexpr std::chrono::milliseconds kPulse{100};  // between checks whether to stop while nothing is reported

}  // namespace

std::string Search::reason_to_stop() const {
  if (inputs_.interrupted) return kInterrupted;
  if (options_.evaluations > 0 && state_.evaluations() >= options_.evaluations)
    return fmt::format("the budget of {} is used up", counted(options_.evaluations, "evaluation"));
  if (options_.seconds > 0 && seconds() >= options_.seconds && !first_kernel_is_coming())
    return fmt::format("the budget of {:.0f} s is used up", options_.seconds);
  if (following_) return following_->done() && idle() ? "the recorded run ends here" : "";
  if (options_.patience > 0 && state_.since_improvement() >= options_.patience)
    return fmt::format("no improvement in {}", counted(state_.since_improvement(), "evaluation"));
  if (at_the_floor())
    return fmt::format("the best kernel reaches {:.0f} % of the speed of light", 100 * options_.floor_fraction);
  return "";
}

/// Preparing a large task may take the whole time. The minds that answer at once have one kernel judged even then: a
/// search that ends without any has told nobody anything.
bool Search::first_kernel_is_coming() const {
  return state_.evaluations() == 0 && !asked_out_ && !following_ &&
         std::any_of(inputs_.minds.begin(), inputs_.minds.end(),
                     [](const Proposer* mind) { return mind->questions_at_once() == 0; });
}

std::string Search::why_exhausted() const {
  for (const Proposer* mind : inputs_.minds)
    if (auto reason = mind->spending().used_up) return *std::move(reason);
  return given_up_.empty() ? "nothing new is left to try" : given_up_;
}

// ---- asking

int Search::outstanding(bool slow) const {
  return static_cast<int>(std::count_if(tickets_.begin(), tickets_.end(), [&](const auto& one) {
    return one.second.slow == slow && one.second.effort == Effort::search;
  }));
}

/// Whether one more proposal fits the evaluations that are left. Questions that are not answered yet hold no place
/// against minds that answer at once.
bool Search::has_room(bool slow) const {
  if (options_.evaluations <= 0) return true;
  const auto taken = std::count_if(tickets_.begin(), tickets_.end(), [&](const auto& one) {
    return one.second.effort == Effort::search && (slow || one.second.phase != Phase::asked);
  });
  return state_.evaluations() + taken < options_.evaluations;
}

void Search::add(Planned planned, bool reserved, Effort effort, std::optional<Evaluation> known) {
  const std::int64_t id = ++last_ticket_;
  Ticket ticket;
  ticket.effort = effort;
  ticket.planned = std::move(planned);
  ticket.known = std::move(known);
  if (ticket.planned.refused)
    ticket.phase = Phase::ready;
  else
    runner_.submit(id, InspectJob{ticket.kernel()});
  if (reserved) reserved_ = id;
  tickets_.emplace(id, std::move(ticket));
}

Result<std::optional<Planned>> Search::next_planned() {
  if (following_) {
    std::vector<std::string> remarks;
    auto planned = following_->next(state_, inputs_.minds, remarks);
    for (const std::string& remark : remarks) observer_.on_event(RunNote{remark});
    return planned;
  }
  return asking_.next(outstanding(false) + outstanding(true));
}

Status Search::ask() {
  while (!asked_out_ && !is_tuning_due() && outstanding(false) < std::max(1, options_.at_once) && has_room(false)) {
    auto planned = next_planned();
    if (!planned) {
      KERF_TRY_VOID(mind_failed(asking_.last_asked(), planned.error()));
      continue;
    }
    if (!*planned) {
      asked_out_ = true;
      break;
    }
    add(**std::move(planned));
  }
  return following_ ? Status{} : ask_slow_minds();
}

Status Search::ask_slow_minds() {
  for (const Proposer* mind : inputs_.minds) {
    const std::string name(mind->name());
    const auto under_way = [&] {
      return std::count_if(tickets_.begin(), tickets_.end(), [&](const auto& one) {
        return one.second.question && one.second.question->operation.proposer == name;
      });
    };
    while (asking_.is_asked(name) && !mind->spending().used_up && under_way() < mind->questions_at_once() &&
           has_room(true)) {
      auto question = asking_.question(*mind, outstanding(false) + outstanding(true));
      if (!question) break;
      const std::int64_t id = ++last_ticket_;
      observer_.on_event(ProposalAsked{id, name, question->operation.info.name});
      Ticket ticket;
      ticket.phase = Phase::asked;
      ticket.slow = true;
      ticket.asked_at = seconds();
      ticket.question = std::move(question);
      ask_with_counters(id, tickets_.emplace(id, std::move(ticket)).first->second);
    }
  }
  return {};
}

/// The question goes out at once where nothing is to be counted; else the device comes first.
void Search::ask_with_counters(std::int64_t id, Ticket& ticket) {
  Question& question = *ticket.question;
  const std::int64_t parent = question.asked.parent.value_or(0);
  if (const auto known = counters_.find(parent); known != counters_.end()) {
    question.request.parent->counters = known->second;
  } else if (parent != 0 && options_.counters != 0 && !uncounted_) {
    runner_.submit(id, CountJob{{state_.candidate(parent), state_.step(parent).tunables}});
    return;
  }
  runner_.submit(id, ProposeJob{question.operation.proposer, question.request});
}

/// Without counters minds are told what the cost model says, so no failure to count is the search's.
void Search::take_counters(std::int64_t id, Ticket& ticket, const Result<std::optional<Counters>>& counters) {
  if (counters) counters_[*ticket.question->asked.parent] = *counters;
  if (!counters && !std::exchange(uncounted_, true))
    observer_.on_event(RunNote{"what bounds a kernel is taken from the cost model: " + counters.error().message});
  ask_with_counters(id, ticket);
}

/// The same words are reported once. While nothing else is under way they are kept back for the run's error.
void Search::note_failure(const std::string& mind, const std::string& message) {
  const bool alone = asked_out_ && state_.evaluations() == 0 && outstanding(false) == 0;
  std::string words = fmt::format("the {} mind failed: {}", mind, message);
  if (!alone && noted_.insert(words).second) observer_.on_event(RunNote{std::move(words)});
}

Status Search::check_asked() const {
  if (given_up_.empty() || state_.evaluations() > 0) return {};
  return fail(Errc::unavailable, "nothing was evaluated: " + given_up_);
}

/// A mind that cannot be asked is noted; the search goes on with the others.
Status Search::mind_failed(const std::string& mind, const Error& error) {
  if (!asking_.is_asked(mind)) return {};  // given up already; this is the answer to an earlier question
  note_failure(mind, error.message);
  if (!asking_.failed(mind)) return {};
  const bool others = std::any_of(inputs_.minds.begin(), inputs_.minds.end(),
                                  [&](const Proposer* one) { return asking_.is_asked(std::string(one->name())); });
  if (!others) return tl::unexpected<Error>(error);
  given_up_ = fmt::format("the {} mind keeps failing: {}", mind, error.message);
  if (!noted_.empty())
    observer_.on_event(RunNote{fmt::format("the {} mind keeps failing and is no longer asked", mind)});
  return {};
}

Status Search::received(std::int64_t id, Result<std::optional<Proposal>> proposal) {
  Ticket& ticket = tickets_.at(id);
  const std::string mind = ticket.question->operation.proposer;
  if (!proposal || !*proposal) {
    tickets_.erase(id);
    return proposal ? Status{} : mind_failed(mind, proposal.error());
  }
  asking_.answered(mind);
  ticket.planned = asking_.receive(*ticket.question, **std::move(proposal));
  ticket.phase = ticket.planned.refused ? Phase::ready : Phase::building;
  if (!ticket.planned.refused) runner_.submit(id, InspectJob{ticket.kernel()});
  return {};
}

// ---- judging

Status Search::begin_next() {
  while (!judging()) {
    std::optional<std::int64_t> next;
    if (reserved_) {
      if (tickets_.at(*reserved_).phase != Phase::ready) return {};
      next = std::exchange(reserved_, std::nullopt);
    } else {
      bool waiting = false;  // proposals of one mind that answers at once are judged in their order
      for (const auto& [id, ticket] : tickets_) {
        if (ticket.phase == Phase::ready && (ticket.slow || !waiting)) next = next.value_or(id);
        waiting = waiting || (!ticket.slow && ticket.phase != Phase::ready);
      }
      if (!next && tickets_.size() == static_cast<std::size_t>(outstanding(true)) && is_tuning_due())
        return begin_tuning();
    }
    if (!next) return {};
    KERF_TRY_VOID(begin(*next));
    if (!reason_to_stop().empty()) return {};
  }
  return {};
}

/// A refused answer and known code are done at once; all else goes to the device.
Status Search::begin(std::int64_t id) {
  Ticket& ticket = tickets_.at(id);
  Step announced = ticket.planned.step;
  announced.number = state_.next_number();
  stage_ = announced.stage;
  observer_.on_event(CandidateStarted{announced, progress(stage_)});
  if (ticket.planned.refused) {
    ticket.evaluation = ticket.planned.step.evaluation;
    return finish(id);
  }
  const auto twin = ticket.inspection && ticket.effort == Effort::search
                        ? state_.step_with_code(ticket.inspection->code)
                        : std::nullopt;
  if (twin) {
    ticket.evaluation = duplicate_of(state_, *twin, ticket.planned);
    return finish(id);
  }
  on_device_ = id;
  if (ticket.known) {
    ticket.evaluation = *std::exchange(ticket.known, std::nullopt);
    ticket.phase = Phase::measuring_longer;
    return evaluated(ticket);
  }
  ticket.phase = Phase::evaluating;
  runner_.submit(id, EvaluateJob{ticket.kernel(), ticket.effort});
  return {};
}

/// There are figures: measured longer where they leave it open, then timed in turn with what it must be compared with.
Status Search::evaluated(Ticket& ticket) {
  const std::int64_t id = *on_device_;
  const auto opponent = opponent_of(ticket);
  const bool measured = std::holds_alternative<Measurement>(ticket.evaluation.outcome);
  if (ticket.phase == Phase::evaluating && ticket.effort == Effort::search && measured && ticket.inspection &&
      !opponent) {
    // The first one measured is the scale of all others.
    const bool first = options_.archive.noise_aware && state_.archive().best() == nullptr;
    if (first || state_.is_contested(ticket.evaluation, ticket.inspection->descriptors.cell)) {
      ticket.phase = Phase::measuring_longer;
      runner_.submit(id, EvaluateJob{ticket.kernel(), Effort::careful});
      return {};
    }
  }
  if (!opponent) return finish(id);
  ticket.compared_with = opponent;
  ticket.phase = Phase::comparing;
  return compare(id, ticket, ticket.effort);
}

Status Search::compare(std::int64_t id, Ticket& ticket, Effort effort) {
  const std::int64_t other = *ticket.compared_with;
  runner_.submit(id, CompareJob{ticket.kernel(), {state_.candidate(other), state_.step(other).tunables}, effort});
  return {};
}

Status Search::compared(std::int64_t id, Ticket& ticket, PairedOutcome outcome) {
  constexpr double kMayBeBetter = 0.97;
  if (const auto& first = outcome.speedup; first && ticket.phase == Phase::comparing &&
                                           ticket.effort == Effort::search && first->ratio > kMayBeBetter &&
                                           first->low <= 1) {
    ticket.phase = Phase::comparing_longer;  // to decide it
    return compare(id, ticket, Effort::careful);
  }
  if (outcome.refused) ticket.evaluation.outcome = *std::move(outcome.refused);
  const std::int64_t other = *ticket.compared_with;
  if (const auto& speedup = outcome.speedup)
    std::get<Measurement>(ticket.evaluation.outcome).comparison =
        PairedComparison{other, std::exp(fitness_of(state_.step(other).evaluation).log_speedup), speedup->ratio,
                         speedup->low, speedup->high};
  return finish(id);
}

/// The ticket becomes a step, unless it was interrupted before there was a verdict.
Status Search::finish(std::int64_t id) {
  Ticket ticket = std::move(tickets_.at(id));
  tickets_.erase(id);
  if (on_device_ == id) on_device_.reset();
  Step step = std::move(ticket.planned.step);
  step.evaluation = std::move(ticket.evaluation);
  const bool measured = std::holds_alternative<Measurement>(step.evaluation.outcome);
  if (inputs_.interrupted && !measured) return {};  // the interrupt may have hit its processes
  if (ticket.inspection) {
    step.descriptors = to_json(ticket.inspection->descriptors, ticket.inspection->code);
    if (measured) step.cell = step.evaluation.cell = ticket.inspection->descriptors.cell;
  } else if (measured) {
    return fail(Errc::tool_failed, "a kernel that was measured cannot be compiled again: " + step.name);
  }
  step.number = state_.next_number();
  if (following_) following_->became(ticket.planned.follows, step.number);
  return take(std::move(step));
}

/// Nothing that has happened is news to anybody who decides.
void Search::observe(Step& step) {
  state_.observe(step);
  for (Proposer* mind : inputs_.minds) mind->observe(step);
}

/// Inserts, stores, reports; in this order.
Status Search::take(Step step) {
  step.number = state_.next_number();
  step.seconds = seconds();
  observe(step);
  asked_out_ = false;
  stage_ = step.stage;
  const Speedup estimate = state_.estimates().so_far(step.number);
  const StepFinished finished{std::move(step), progress(stage_), estimate};
  KERF_TRY_VOID(inputs_.store.record(finished));
  observer_.on_event(finished);
  return {};
}

Status Search::wait() {
  const auto message = runner_.wait(kPulse);
  if (!message) {
    if (seconds() - told_at_ < kSilence) return {};
    told_at_ = seconds();
    observer_.on_event(StillWaiting{progress(stage_)});
    return {};
  }
  told_at_ = seconds();
  if (const auto* tier = std::get_if<TierEvent>(&message->content)) {
    observer_.on_event(*tier);
  } else if (const auto* note = std::get_if<RunNote>(&message->content)) {
    observer_.on_event(*note);
  } else if (const auto* trial = std::get_if<Evaluation>(&message->content)) {
    Planned planned = variant_of(state_, tuning_, Stage::tune, kTrialOperation, "a quick timing of other values");
    planned.step.tunables = trial->tunables;
    planned.step.evaluation = *trial;
    return take(std::move(planned.step));
  } else {
    return take_in(message->ticket, std::get<JobResult>(message->content));
  }
  return {};
}

Status Search::take_in(std::int64_t id, JobResult result) {
  if (auto* done = std::get_if<Result<Tuned>>(&result)) return tuned(std::move(*done));
  const auto found = tickets_.find(id);
  if (found == tickets_.end()) return {};  // given up meanwhile
  Ticket& ticket = found->second;
  if (const auto* values = std::get_if<Result<std::optional<Counters>>>(&result)) {
    take_counters(id, ticket, *values);
    return {};
  }
  if (auto* proposal = std::get_if<Result<std::optional<Proposal>>>(&result)) return received(id, std::move(*proposal));
  if (auto* inspection = std::get_if<Result<std::optional<Inspection>>>(&result)) {
    KERF_TRY(ticket.inspection, std::move(*inspection));
    ticket.phase = Phase::ready;
    return {};
  }
  if (auto* evaluation = std::get_if<Result<Evaluation>>(&result)) {
    KERF_TRY(ticket.evaluation, std::move(*evaluation));
    return evaluated(ticket);
  }
  KERF_TRY(PairedOutcome outcome, std::get<Result<PairedOutcome>>(std::move(result)));
  return compared(id, ticket, std::move(outcome));
}

/// Judges the one reserved ticket to its end, unless it is interrupted before it began.
Status Search::judge_reserved() {
  while (!idle() && !(inputs_.interrupted && !judging())) {
    KERF_TRY_VOID(begin_next());
    if (!idle()) KERF_TRY_VOID(wait());
  }
  return {};
}

/// The step that this kernel must be timed against before anything is made of its speedup: the best so far if it comes
/// near that, among the finalists the first that was confirmed. None where the noise is no concern of the search.
std::optional<std::int64_t> Search::opponent_of(const Ticket& ticket) const {
  constexpr double kNear = 0.35;  // a logarithm: speedups measured minutes apart differ by as much on busy machines
  if (!options_.archive.noise_aware) return std::nullopt;
  const Fitness fitness = fitness_of(ticket.evaluation);
  if (!fitness.measured()) return std::nullopt;
  if (ticket.effort == Effort::final) return state_.first_confirmation();
  const Elite* best = state_.archive().best();
  if (best == nullptr || fitness.log_speedup < best->fitness.log_speedup - kNear) return std::nullopt;
  return best->step;
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
  SearchProgress progress = progress_of(state_);
  progress.stage = stage;
  progress.evaluation_limit = options_.evaluations;
  progress.confirmed = confirmed_;
  progress.finalists = finalists_;
  progress.asking = static_cast<int>(std::count_if(tickets_.begin(), tickets_.end(),
                                                   [](const auto& one) { return one.second.phase == Phase::asked; }));
  progress.seconds = seconds();
  for (const auto& [id, ticket] : tickets_) {
    if (ticket.phase != Phase::asked) continue;
    progress.asked = fmt::format("{}: {}", ticket.question->operation.proposer, ticket.question->operation.info.name);
    progress.asked_seconds = std::max(progress.asked_seconds, progress.seconds - ticket.asked_at);
  }
  for (const Proposer* mind : inputs_.minds)
    if (const Spending one = mind->spending(); one.anything()) progress.spending = one;
  progress.time_limit = options_.seconds;
  const double spent = progress.seconds - seconds_before_;
  if (spent > 0) progress.rate = 60 * (state_.evaluations() - evaluations_before_) / spent;
  progress.patience = options_.patience;
  return progress;
}

namespace {

/// What is known at the end, kept and returned.
Result<SearchResult> conclude(const SearchInputs& inputs, const Search& search, const std::string& stopped,
                              RunObserver& observer) {
  SearchResult result;
  result.interrupted = inputs.interrupted;
  result.stopped = result.interrupted ? kInterrupted : stopped;
  result.best_step = search.state().best_step();
  result.progress = search.progress({});
  if (result.best_step != 0)
    result.beats_baseline =
        std::get<Measurement>(search.state().step(result.best_step).evaluation.outcome).speedup.low > 1;
  KERF_TRY_VOID(inputs.store.set("best_step", std::to_string(result.best_step)));
  KERF_TRY_VOID(inputs.store.set("elapsed_seconds", fmt::format("{:.3f}", result.progress.seconds)));
  if (!result.interrupted) {
    KERF_TRY_VOID(inputs.store.set("finished", stopped));
  }
  const RunMark mark{"stopped", {{"reason", result.stopped}}};
  KERF_TRY_VOID(inputs.store.record(mark));
  observer.on_event(mark);
  return result;
}

}  // namespace

Result<SearchResult> optimize(const SearchInputs& inputs, const SearchOptions& asked, RunObserver& observer) {
  SearchOptions options = asked;
  options.archive = archive_options(options);
  KERF_TRY(auto policy, make_policy(options.search));
  Search search(inputs, options, observer, std::move(policy));
  KERF_TRY_VOID(search.replay());
  std::string stopped;
  for (;;) {
    stopped = search.reason_to_stop();
    if (stopped.empty()) {
      KERF_TRY_VOID(search.ask());         // operation, parent, direction; nothing known is asked for
      KERF_TRY_VOID(search.begin_next());  // compare code, judge, time against the best, or tune
      stopped = search.reason_to_stop();
    }
    if (stopped.empty() && search.exhausted()) stopped = search.why_exhausted();
    if (!stopped.empty() && !search.judging()) break;  // never in the middle of a candidate
    if (search.idle()) continue;
    KERF_TRY_VOID(search.wait());  // a proposal, a build, a verdict: archive, store, report
  }
  if (stopped != kInterrupted) {
    KERF_TRY_VOID(search.check_asked());
    KERF_TRY_VOID(search.fall_back());
    KERF_TRY_VOID(search.confirm());
    KERF_TRY_VOID(search.settle());
  }
  return conclude(inputs, search, stopped, observer);
}

}  // namespace kerf
