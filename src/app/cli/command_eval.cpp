#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "app/cli/commands.hpp"
#include "app/cli/host_load.hpp"
#include "app/cli/kernel_file.hpp"
#include "app/cli/run_text.hpp"
#include "base/hash.hpp"
#include "base/one_line.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "judge/judge.hpp"
#include "run/settings.hpp"
#include "run/target_session.hpp"
#include "task/task.hpp"

namespace kerf::cli {
namespace {

/// One kernel file of the command line on its way to a verdict.
struct Job {
  Candidate candidate;  ///< when the header could be read
  std::optional<Evaluation> result;
};

/// Shows tiers as they finish, under the name of their kernel.
class Progress final : public Observer {
 public:
  Progress(Console& console, std::string target) : console_(console), target_(std::move(target)) {}

  void on_tier(const TierEvent& event) override {
    announce(event.candidate);
    console_.err << tier_line(event, console_.err_style) << std::flush;
  }
  void on_note(const std::string& text) override { console_.err << note_line(text, console_.err_style) << std::flush; }
  void announce(const std::string& candidate) {
    if (candidate == current_) return;
    current_ = candidate;
    console_.err << paint(one_line(candidate), Colour::bold, console_.err_style) << " on " << target_ << std::endl;
  }

 private:
  Console& console_;
  std::string target_;
  std::string current_;
};

Evaluation refused_at_parse(const Task& task, const std::string& target, const Candidate& candidate,
                            std::string message) {
  Evaluation evaluation;
  evaluation.task = task.name;
  evaluation.task_id = task.id;
  evaluation.target = target;
  evaluation.candidate = candidate.name;
  evaluation.candidate_id = candidate.id;
  evaluation.outcome = Rejected{Gate::parse, std::move(message)};
  return evaluation;
}

Result<Job> read_kernel(const EvalOptions& options, const Task& task, const std::string& path) {
  KERF_TRY(std::string source, read_kernel_text(path));
  Job job;
  auto parsed = parse_candidate(path, source);
  if (parsed) {
    job.candidate = *std::move(parsed);
    KERF_TRY(job.candidate.target, choose_target(path, options.target, job.candidate.target));
    if (auto known = check_target_name(job.candidate.target); !known)
      job.result = refused_at_parse(task, job.candidate.target, job.candidate, path + ": " + known.error().message);
  } else {
    job.candidate.name = path;
    job.candidate.id = sha256_hex(source);
    KERF_TRY(job.candidate.target, choose_target(path, options.target, ""));
    job.result = refused_at_parse(task, job.candidate.target, job.candidate, parsed.error().message);
  }
  return job;
}

/// Every tunable of the command line belongs to at least one kernel.
Status check_tunables(const Settings& settings, const std::vector<Job>& jobs) {
  std::vector<std::string> names;
  for (const auto& job : jobs)
    for (const auto& tunable : job.candidate.tunables) names.push_back(tunable.name);
  for (const auto& [name, value] : settings.tunables)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return fail(Errc::invalid_input, fmt::format("no kernel has a tunable '{}'{}; settings of Kerf have a dot: "
                                                   "measure.max_rounds=20",
                                                   name, did_you_mean(name, names)));
  return {};
}

Bindings own_tunables(const Candidate& candidate, const Bindings& given) {
  Bindings own;
  for (const auto& tunable : candidate.tunables)
    if (const auto value = given.find(tunable.name); value != given.end()) own.insert(*value);
  return own;
}

/// Compiles the kernels ahead of the one being judged; stops when it goes out of scope.
class Prefetch {
 public:
  Prefetch(Judge& judge, const std::vector<std::pair<Job*, Bindings>>& work, int jobs) {
    const int threads = std::min<int>(jobs, static_cast<int>(work.size()) - 1);
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, &judge, &work] {
        for (std::size_t k; !stop_ && (k = next_++) < work.size();)
          judge.prefetch(work[k].first->candidate, work[k].second);
      });
  }
  ~Prefetch() {
    stop_ = true;
    for (auto& thread : threads_) thread.join();
  }
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

 private:
  std::atomic<std::size_t> next_{1};  // the first kernel is compiled by whoever judges it
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

struct Session {
  const Task& task;
  const EvalOptions& options;
  const Settings& settings;
  const JudgeOptions& judge_options;
  const TargetResources& context;
  Console& console;
};

void show(const Evaluation& evaluation, const Session& session) {
  if (session.options.json) session.console.out << to_json(evaluation) << std::endl;
}

/// Judges all kernels of one target.
Status judge_target(const std::string& name, const std::vector<Job*>& jobs, Session& session) {
  KERF_TRY(const auto opened, TargetSession::open(session.task, name, session.options.device, session.context,
                                                  session.options.no_cache ? Builds::fresh : Builds::kept));
  Progress progress(session.console, fmt::format("{} ({})", name, one_line(opened->facts().name)));
  NullObserver silent;
  Observer& observer = session.options.json ? static_cast<Observer&>(silent) : progress;
  std::vector<std::pair<Job*, Bindings>> work;
  for (Job* job : jobs) {
    KERF_TRY(Bindings tunables,
             resolve_tunables(job->candidate, own_tunables(job->candidate, session.settings.tunables)));
    work.emplace_back(job, std::move(tunables));
  }
  const Judge::First first{work.front().first->candidate, work.front().second};
  KERF_TRY(const auto judge, Judge::open(session.task, opened->tools(), session.judge_options, observer, first));
  const int cores = session.options.jobs > 0 ? session.options.jobs : available_cores();
  const std::string busy = opened->facts().runs_on_host && !session.options.verify_only ? busy_words(busy_share()) : "";
  const Prefetch prefetch(*judge, work, cores);
  for (auto& [job, tunables] : work) {
    if (!session.options.json) progress.announce(job->candidate.name);
    KERF_TRY(job->result, judge->evaluate(job->candidate, tunables, observer));
    if (!busy.empty() && !job->result->from_cache && std::holds_alternative<Measurement>(job->result->outcome))
      job->result->notes.push_back(busy);
    if (job->result->from_cache) observer.on_note("known from an earlier run (--no-cache judges again)");
    show(*job->result, session);
  }
  return {};
}

void show_all(const std::vector<Job>& jobs, Console& console) {
  std::vector<Evaluation> evaluations;
  for (const auto& job : jobs) evaluations.push_back(*job.result);
  console.err << std::flush;
  console.out << "\n" << evaluation_table(evaluations, console.out_style);
  std::vector<std::string> notes;
  for (const auto& evaluation : evaluations) {
    if (const std::string report = failure_report(evaluation, console.out_style); !report.empty())
      console.out << "\n" << report;
    else
      console.out << paint(fmt::format("{}: {}", one_line(evaluation.candidate), seen_words(evaluation)), Colour::dim,
                           console.out_style)
                  << "\n";
    for (const auto& note : evaluation.notes)
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  if (!notes.empty()) console.out << "\n";
  for (const auto& note : notes)
    console.out << paint("note: " + one_line(note), Colour::dim, console.out_style) << "\n";
  console.out << std::flush;
}

/// With --strict: what is wrong with each kernel, one line each.
Status check_strict(const std::vector<Job>& jobs, const EvalOptions& options) {
  std::vector<std::string> complaints;
  for (const Job& job : jobs) {
    const std::string name = one_line(job.candidate.name);
    const auto* measurement = std::get_if<Measurement>(&job.result->outcome);
    if (measurement == nullptr) {
      complaints.push_back(fmt::format("{} does not pass ({})", name, outcome_words(job.result->outcome)));
    } else if (options.at_least > 0 && !(measurement->speedup.low >= options.at_least)) {
      complaints.push_back(fmt::format("{} is {} over {}, not at least {}x beyond the noise", name,
                                       format_speedup(measurement->speedup), one_line(measurement->speedup.vs),
                                       options.at_least));
    }
  }
  if (complaints.empty()) return {};
  return fail(Errc::tool_failed, join(complaints, "; "));  // exit code 1
}

}  // namespace

Status eval(const EvalOptions& options, const Environment& environment, Console& console) {
  if (!options.target.empty()) {
    KERF_TRY_VOID(check_target_name(options.target));
  }
  KERF_TRY(const Task task, load_checked_task(options.task, environment));
  if (options.at_least > 0 && (!options.strict || options.verify_only))
    return fail(Errc::invalid_input, "--at-least goes with --strict and needs timing; see kerf eval --help");
  KERF_TRY(const Settings settings, parse_settings(options.set));
  JudgeOptions judge_options;
  judge_options.seed = options.seed ? *options.seed : fresh_seed();
  judge_options.only_shape = options.shape;
  judge_options.skip_timing = options.verify_only;
  judge_options.cache = environment.cache;
  judge_options.use_evaluation_cache = !options.no_cache;
  // A limit is to be held against a ratio that is decided: all the time there is goes into it.
  if (options.at_least > 0) judge_options.measure.settle_rounds = judge_options.measure.max_rounds;
  KERF_TRY_VOID(apply_settings(settings, judge_options));

  std::vector<Job> jobs;
  for (const auto& path : options.kernels) {
    KERF_TRY(Job job, read_kernel(options, task, path));
    jobs.push_back(std::move(job));
  }
  KERF_TRY_VOID(check_tunables(settings, jobs));

  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, options.jobs);
  Session session{task, options, settings, judge_options, context, console};

  std::vector<std::string> order;  // targets by first appearance
  for (const auto& job : jobs) {
    if (job.result)
      show(*job.result, session);
    else if (std::find(order.begin(), order.end(), job.candidate.target) == order.end())
      order.push_back(job.candidate.target);
  }
  for (const auto& target : order) {
    std::vector<Job*> mine;
    for (auto& job : jobs)
      if (!job.result && job.candidate.target == target) mine.push_back(&job);
    KERF_TRY_VOID(judge_target(target, mine, session));
  }
  if (!options.json) show_all(jobs, console);
  return options.strict ? check_strict(jobs, options) : Status{};
}

}  // namespace kerf::cli
