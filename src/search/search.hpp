#pragma once
// One search while it runs. Private to this room: loop.cpp has its steps, loop_tuning.cpp and loop_finalists.cpp what
// comes between and after them.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "search/asking.hpp"
#include "search/following.hpp"
#include "search/job_runner.hpp"
#include "search/loop.hpp"
#include "search/search_state.hpp"
#include "search/ticket.hpp"

namespace kerf {

class Search {
 public:
  Search(const SearchInputs& inputs, const SearchOptions& options, RunObserver& observer,
         std::unique_ptr<Policy> policy)
      : inputs_(inputs),
        options_(options),
        observer_(observer),
        state_(std::move(policy), options.archive),
        asking_(inputs.minds, state_, state_.policy(),
                {inputs.target, options.seed, options.starts, options.evaluations, options.start_share}),
        began_(inputs.clock.now()),
        runner_(inputs.evaluator, inputs.minds, options.at_once > 1 ? available_cores() : 1,
                [this] { return tuning_goes_on(); }) {
    if (inputs.follow != nullptr) following_.emplace(*inputs.follow, inputs.target);
  }

  Status replay() {
    KERF_TRY(std::vector<Step> steps, inputs_.store.steps());
    for (Step& step : steps) observe(step);
    seconds_before_ = state_.seconds();
    evaluations_before_ = state_.evaluations();
    return {};
  }

  std::string reason_to_stop() const;  ///< "" while the search should go on
  bool first_kernel_is_coming() const;
  bool judging() const { return on_device_.has_value() || tuning_ != 0; }
  bool idle() const { return tickets_.empty() && tuning_ == 0; }  ///< nothing is under way
  bool exhausted() const { return idle() && asked_out_; }         ///< and nothing is left to begin
  std::string why_exhausted() const;
  /// An error when nothing was evaluated because no mind could be asked: that is no result of a search.
  Status check_asked() const;

  Status ask();         ///< as many proposals as may be under way at once
  Status begin_next();  ///< gives the device something to do
  Status wait();        ///< for something to be reported, and takes it in
  Status confirm();     ///< the best ones are measured again
  Status settle();      ///< and the naive kernel, when they fall short of what the search saw
  Status fall_back();   ///< the naive kernel, when nothing beats the baseline

  SearchProgress progress(std::optional<Stage> stage) const;
  const SearchState& state() const { return state_; }

 private:
  using Phase = Ticket::Phase;
  double seconds() const {
    return seconds_before_ + std::chrono::duration<double>(inputs_.clock.now() - began_).count();
  }
  int outstanding(bool slow) const;
  bool has_room(bool slow) const;
  void add(Planned planned, bool reserved = false, Effort effort = Effort::search,
           std::optional<Evaluation> known = {});
  Status ask_slow_minds();
  void ask_with_counters(std::int64_t id, Ticket& ticket);
  void take_counters(std::int64_t id, Ticket& ticket, const Result<std::optional<Counters>>& counters);
  Status mind_failed(const std::string& mind, const Error& error);
  void note_failure(const std::string& mind, const std::string& message);
  Result<std::optional<Planned>> next_planned();

  Status take_in(std::int64_t id, JobResult result);
  Status received(std::int64_t id, Result<std::optional<Proposal>> proposal);
  Status begin(std::int64_t id);
  Status evaluated(Ticket& ticket);
  Status compare(std::int64_t id, Ticket& ticket, Effort effort);
  Status compared(std::int64_t id, Ticket& ticket, PairedOutcome outcome);
  Status finish(std::int64_t id);
  Status judge_reserved();
  Status measure_again(std::int64_t step);
  bool is_shown_faster(std::int64_t step) const;  ///< than the strongest baseline; 0: none is
  void observe(Step& step);
  Status take(Step step);

  bool is_tuning_due() const;
  Status begin_tuning();
  Status tuned(Result<Tuned> result);
  bool tuning_goes_on() const;
  double share_used() const;

  std::optional<std::int64_t> opponent_of(const Ticket& ticket) const;
  bool at_the_floor() const;

  const SearchInputs& inputs_;
  const SearchOptions& options_;
  RunObserver& observer_;
  SearchState state_;
  Asking asking_;
  std::optional<Following> following_;
  std::map<std::int64_t, Ticket> tickets_;
  std::int64_t last_ticket_ = 0;
  std::optional<std::int64_t> on_device_;  // the ticket that is judged
  std::optional<std::int64_t> reserved_;   // the ticket that is judged next, whatever else is ready
  std::int64_t tuning_ = 0;                // the step whose tunables are searched; 0: none
  bool asked_out_ = false;                 // the minds that answer at once have nothing new, until a step changes that
  std::string given_up_;                   // the mind that is no longer asked, and why
  std::set<std::string> noted_;            // failures of minds that were reported
  std::map<std::int64_t, std::optional<Counters>> counters_;  // by step; none: the kernel failed while it was counted
  bool uncounted_ = false;                                    // the machine counts nothing
  int confirmed_ = 0, finalists_ = 0;
  std::optional<Stage> stage_;  // of the step that was begun or finished last
  double told_at_ = 0;          // run time at which the observer last heard something
  Nanoseconds began_;
  double seconds_before_ = 0;
  int evaluations_before_ = 0;
  JobRunner runner_;  // last: its threads end before anything they use
};

}  // namespace kerf
