#include <fmt/format.h>

#include <csignal>
#include <random>

#include <nlohmann/json.hpp>

#include "app/cli/commands.hpp"
#include "app/cli/run_config.hpp"
#include "app/cli/search_view.hpp"
#include "base/file.hpp"
#include "base/rng.hpp"
#include "base/version.hpp"
#include "build/build.hpp"
#include "measure/peaks.hpp"
#include "propose/synth/synthesiser.hpp"
#include "search/judge_evaluator.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

/// Set by the first Ctrl-C; the second one ends the program as usual. A signal handler reaches nothing but globals.
std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

/// Takes over Ctrl-C and a polite kill for as long as it lives.
class InterruptGuard {
 public:
  InterruptGuard() {
    g_interrupted = false;
    struct sigaction action = {};
    action.sa_handler = [](int) { g_interrupted = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    ::sigaction(SIGINT, &action, &old_int_);
    ::sigaction(SIGTERM, &action, &old_term_);
  }
  ~InterruptGuard() {
    ::sigaction(SIGINT, &old_int_, nullptr);
    ::sigaction(SIGTERM, &old_term_, nullptr);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  struct sigaction old_int_ = {}, old_term_ = {};
};

std::string extension_of(const std::string& target) {
  for (const char* extension : {".cpp", ".cl", ".cu"})
    if (target_for_extension(extension) == target) return extension;
  return ".txt";
}

/// Also keeps best.<ext> up to date, so that an interrupted run has it too.
class Keeper final : public RunObserver {
 public:
  Keeper(RunObserver& next, fs::path file, RunStore& store) : next_(next), file_(std::move(file)), store_(store) {}
  void on_event(const RunEvent& event) override {
    if (const auto* finished = std::get_if<StepFinished>(&event);
        finished != nullptr && finished->progress.best_step == finished->step.number) {
      (void)write_file_atomic(file_, finished->step.source);  // a copy for people; the store has it
      (void)store_.set("best_step", std::to_string(finished->step.number));
    }
    next_.on_event(event);
  }

 private:
  RunObserver& next_;
  fs::path file_;
  RunStore& store_;
};

/// Baseline times of the run's first measured step, so that later ones are compared with the same.
Result<Judge::References> first_references(const RunStore& store) {
  KERF_TRY(const auto steps, store.steps());
  for (const Step& step : steps)
    if (auto references = references_of(step.evaluation); !references.empty()) return references;
  return Judge::References{};
}

Status record_environment(RunStore& store, const Target& target, const fs::path& cache) {
  const DeviceFacts& facts = target.device->facts();
  KERF_TRY_VOID(store.set("device", facts.name));
  KERF_TRY_VOID(
      store.set("toolchain", fmt::format("{}; {}; kerf {}", target.language->version(), facts.driver, kKerfVersion)));
  if (!cache.empty())
    if (const auto peaks = load_peaks(cache, facts)) {
      KERF_TRY_VOID(store.set("peaks", nlohmann::json(peaks->rates).dump()));
    }
  return {};
}

struct Outcomes {
  SearchResult result;
  std::optional<Step> best;
};

Result<Outcomes> search(Run& run, const OptimizeOptions& options, const Environment& environment, Console& console) {
  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, options.jobs);
  KERF_TRY(Target target, make_target(run.config.target, context, run.config.device));
  std::optional<Target> cpp;
  if (run.task.cpp && target.name != kCppReferenceTarget) {
    KERF_TRY(cpp, make_target(kCppReferenceTarget, context));
  }
  KERF_TRY_VOID(record_environment(*run.store, target, environment.cache));
  const DeviceFacts& facts = target.device->facts();
  KERF_TRY(auto synthesiser, synth::Synthesiser::create(run.task, target.name, target.language->dialect(), facts));
  const auto builtin = synth::make_builtin_proposer(std::move(synthesiser));

  BuildCache builds(environment.cache.empty() ? fs::path() : environment.cache / "builds");
  SystemClock clock;
  const JudgeTools tools{target, cpp ? &*cpp : &target, builds, clock};
  JudgeOptions judge = run.config.judge;
  judge.seed = Rng(run.config.search.seed).fork("data").bits();
  judge.cache = environment.cache;
  judge.use_evaluation_cache = false;  // a run's figures are its own
  SearchOptions search = run.config.search;
  if (search.at_once == 1 && !facts.runs_on_host) search.at_once = 4;
  KERF_TRY(auto references, first_references(*run.store));

  const InterruptGuard guard;
  NullRunObserver silent;
  std::optional<SearchView> view;
  if (!options.json)
    view.emplace(console,
                 fmt::format("{} on {} ({}), {}", printable(run.task.name), target.name, printable(facts.name),
                             run.store->folder().string()),
                 environment.err_is_terminal);
  JudgeEvaluator evaluator(run.task, tools, judge, std::move(references));
  Keeper keeper(view ? static_cast<RunObserver&>(*view) : silent,
                run.store->folder() / ("best" + extension_of(target.name)), *run.store);
  KERF_TRY(SearchResult result,
           kerf::optimize({{builtin.get()}, evaluator, *run.store, clock, g_interrupted}, search, keeper));
  Outcomes outcomes{std::move(result), std::nullopt};
  if (outcomes.result.best_step > 0) {
    KERF_TRY(outcomes.best, run.store->step(outcomes.result.best_step));
    KERF_TRY_VOID(write_file_atomic(run.store->folder() / ("best" + extension_of(target.name)), outcomes.best->source));
  }
  return outcomes;
}

void show_json(const Run& run, const Outcomes& outcomes, Console& console) {
  const SearchProgress& progress = outcomes.result.progress;
  nlohmann::ordered_json json;
  json["schema"] = 1;
  json["best"] =
      outcomes.best ? nlohmann::ordered_json::parse(to_json(outcomes.best->evaluation)) : nlohmann::ordered_json();
  json["run"] = run.store->folder().string();
  json["best_step"] = outcomes.result.best_step;
  json["stopped"] = outcomes.result.stopped;
  json["interrupted"] = outcomes.result.interrupted;
  json["search"] = run.config.search.search;
  json["seed"] = run.config.search.seed;
  json["steps"] = progress.steps;
  json["evaluations"] = progress.evaluations;
  json["refused"] = progress.failures;
  json["duplicates"] = progress.duplicates;
  json["cells"] = progress.cells;
  json["seconds"] = progress.seconds;
  console.out << json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << std::endl;
}

void show_summary(const Run& run, const Outcomes& outcomes, Console& console) {
  const std::string folder = run.store->folder().string();
  const Style& style = console.out_style;
  if (outcomes.best) {
    console.out << "\n"
                << search_summary(outcomes.best->evaluation, outcomes.result.progress, outcomes.result.stopped, style);
    const auto& measurement = std::get<Measurement>(outcomes.best->evaluation.outcome);
    console.out << fmt::format("\nkernel  {}/best{}\n", folder, extension_of(run.config.target));
    if (!measurement.shapes.empty() && !measurement.shapes.front().speed_of_light)
      console.out << paint(
          "        how close to the machine's limit that is: 'kerf doctor --calibrate' once, then --resume\n",
          Colour::dim, style);
  } else {
    console.out << fmt::format("\nno kernel passed all gates in {} evaluations ({}); 'kerf explain {}' says why\n",
                               outcomes.result.progress.evaluations, outcomes.result.stopped, folder);
  }
  if (outcomes.result.interrupted)
    console.out << fmt::format("go on   kerf optimize --resume {}\n", folder);
  else
    console.out << fmt::format("next    kerf explain {0} best\n        kerf report {0}\n        kerf export {0}\n",
                               folder);
  console.out << std::flush;
}

}  // namespace

Status optimize(const OptimizeOptions& options, const Environment& environment, Console& console) {
  SystemClock clock;
  std::random_device device;
  const std::uint64_t fresh_seed = device();
  KERF_TRY(Run run, open_run(options, clock.wall_ms(), fresh_seed));
  KERF_TRY(const Outcomes outcomes, search(run, options, environment, console));
  if (options.json)
    show_json(run, outcomes, console);
  else
    show_summary(run, outcomes, console);
  return {};
}

}  // namespace kerf::cli
