#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/commands.hpp"
#include "app/cli/host_load.hpp"
#include "app/cli/interrupt_guard.hpp"
#include "app/cli/kernel_file.hpp"
#include "app/cli/memory_option.hpp"
#include "app/cli/model_task.hpp"
#include "app/cli/output_path.hpp"
#include "app/cli/pytorch_comparison.hpp"
#include "app/cli/run_commands.hpp"
#include "app/cli/search_view.hpp"
#include "base/clock.hpp"
#include "base/one_line.hpp"
#include "run/optimize_task.hpp"
#include "run/run_view.hpp"
#include "run/settings.hpp"
#include "search/policy.hpp"
#include "store/find_run.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

/// Finds out at the beginning whether other programs use the cores that kernels are timed on.
class LoadWatch final : public RunObserver {
 public:
  explicit LoadWatch(RunObserver& next) : next_(next) {}
  void on_event(const RunEvent& event) override {
    next_.on_event(event);
    if (std::holds_alternative<StepFinished>(event)) InterruptGuard::keep_results();
    const auto* mark = std::get_if<RunMark>(&event);
    if (mark == nullptr) return;
    const auto host = mark->details.find("runs_on_host");
    if (host == mark->details.end() || host->second != "yes") return;
    words_ = busy_words(busy_share());
    if (!words_.empty()) next_.on_event(RunNote{words_});
  }
  const std::string& words() const { return words_; }  ///< "" on a quiet machine

 private:
  RunObserver& next_;
  std::string words_;
};

/// The command's options over what the configuration says.
Status overlay(const OptimizeOptions& options, RunConfig& config) {
  if (options.evaluations) config.search.evaluations = *options.evaluations;
  if (options.seconds) {
    config.search.seconds = *options.seconds;
    if (!options.evaluations && options.resume.empty()) config.search.evaluations = 0;  // time alone limits it
  }
  if (!options.search.empty()) config.search.search = options.search;
  if (!options.device.empty()) config.device = options.device;
  if (!options.memory_rule.empty()) {
    KERF_TRY(config.memory_rule, memory::rule_from_name(options.memory_rule));
  }
  if (!options.skills.empty()) {
    KERF_TRY(config.skill_rule, skill_rule_from_name(options.skills));
  }
  if (!options.memory.empty()) config.memory = kept_memory(options.memory);
  if (!options.minds.record_chats.empty()) config.record_chats = chats_file(options.minds);
  KERF_TRY(const Settings settings, parse_settings(options.set));
  if (!settings.tunables.empty())
    return fail(Errc::invalid_input,
                fmt::format("--set {}: a search chooses tunables itself; settings have a dot: search.patience=100",
                            settings.tunables.begin()->first));
  KERF_TRY_VOID(make_policy(config.search.search));  // known by name?
  KERF_TRY_VOID(overlay_minds(options.minds, config.minds));
  KERF_TRY_VOID(overlay_embedding(options.embedding, config.embedding));
  return apply_settings(settings, config.judge, &config.search);
}

Result<OptimizeRequest> new_request(const OptimizeOptions& options, const Environment& environment, Console& console) {
  if (options.task.empty())
    return fail(Errc::invalid_input,
                "give a TASK to optimize, --resume a run or --replay one; see kerf optimize --help");
  OptimizeRequest request;
  if (!options.target.empty()) request.config.target = options.target;
  KERF_TRY_VOID(check_target_name(request.config.target));
  if (pytorch::is_model_file(options.task)) {
    KERF_TRY(ModelTask model, read_model_task(options.task, environment, request.config.target));
    if (!options.json) console.err << import_text(model.model, console.err_style) << std::flush;
    request.task = std::move(model.text);
  } else {
    KERF_TRY(request.task, read_checked_task(options.task, environment));
  }
  for (const auto& path : options.from) {
    KERF_TRY(Candidate kernel, read_kernel_file(path, options.target));
    if (request.kernels.empty()) request.config.target = kernel.target;  // where --target is not given, it decides
    request.kernels.push_back(std::move(kernel));
  }
  request.config.search.seed = options.seed ? *options.seed : fresh_seed();
  KERF_TRY_VOID(overlay(options, request.config));
  request.folder = options.out.empty() ? new_run_folder(kRunsFolder, request.task.task.name, request.config.target,
                                                        SystemClock().wall_ms())
                                       : fs::path(options.out);
  return request;
}

/// A budget that is used up already would end the run for good with a smaller one.
Status check_budget(const OptimizeOptions& options, const fs::path& folder) {
  if (options.evaluations.value_or(0) == 0 && !options.seconds) return {};
  KERF_TRY(const RunView run, load_run(folder));
  const double spent = run.steps.empty() ? 0 : run.steps.back().seconds;
  if (options.seconds && *options.seconds <= spent)
    return fail(Errc::invalid_input,
                fmt::format("--time {:.0f}: {} has used {:.0f} s already, and --time is the total; give more",
                            *options.seconds, folder.string(), spent));
  if (options.evaluations.value_or(0) == 0) return {};
  const auto done = std::count_if(run.steps.begin(), run.steps.end(), [](const Step& step) {
    return !is_duplicate(step) && !is_confirmation(step) && !is_fallback(step);
  });
  const bool enough = run.fact("finished").empty() ? *options.evaluations >= done : *options.evaluations > done;
  if (enough) return {};
  return fail(Errc::invalid_input, fmt::format("--evals {}: {} has {} evaluations already, and --evals is the total; "
                                               "give more than {}",
                                               *options.evaluations, folder.string(), done, done));
}

Result<OptimizeRequest> resumed_request(const OptimizeOptions& options, const Environment& environment) {
  if (!options.out.empty())
    return fail(Errc::invalid_input, "--out starts a new run; --resume goes on in the folder of the old one");
  if (options.seed) return fail(Errc::invalid_input, "--seed belongs to a new run; a resumed one keeps its own");
  if (!options.search.empty())
    return fail(Errc::invalid_input, "--search belongs to a new run; a resumed one goes on as it began");
  if (!options.from.empty())
    return fail(Errc::invalid_input, "--from belongs to a new run; a resumed one has its first kernels already");
  KERF_TRY(const fs::path folder, find_run(options.resume, kRunsFolder));
  KERF_TRY_VOID(check_budget(options, folder));
  KERF_TRY(OptimizeRequest request, stored_request(folder));
  if (!options.task.empty()) {
    KERF_TRY(const Task asked, load_checked_task(options.task, environment, request.config.target));
    if (asked.id != request.task.task.id)
      return fail(Errc::invalid_input,
                  fmt::format("{} is a run of another task ('{}', or an earlier text of it); leave TASK out",
                              folder.string(), request.task.task.name));
  }
  if (!options.target.empty() && options.target != request.config.target)
    return fail(Errc::invalid_input, fmt::format("{} is a run for target '{}', not '{}'", folder.string(),
                                                 request.config.target, options.target));
  KERF_TRY_VOID(overlay(options, request.config));
  return request;
}

Result<OptimizeRequest> replayed_request(const OptimizeOptions& options) {
  if (!options.resume.empty() || !options.task.empty() || options.seed || !options.from.empty() ||
      !options.target.empty() || !options.search.empty())
    return fail(Errc::invalid_input,
                "--replay takes task, target, seed and search from the recorded run; give only --out, --evals, --time, "
                "--device, --set or --json with it");
  KERF_TRY(const fs::path recorded, find_run(options.replay, kRunsFolder));
  KERF_TRY(OptimizeRequest request, replay_request(recorded));
  KERF_TRY_VOID(overlay(options, request.config));
  request.folder = options.out.empty() ? new_run_folder(kRunsFolder, request.task.task.name, request.config.target,
                                                        SystemClock().wall_ms())
                                       : fs::path(options.out);
  return request;
}

/// The end of a run of a model file: its winner beside PyTorch.
struct Beside {
  std::optional<pytorch::Comparison> comparison;
  std::string problem;  ///< why there is none, where there should be one
};

Beside beside_pytorch(const OptimizeOptions& options, const OptimizeResult& result, const Environment& environment,
                      Console& console) {
  Beside beside;
  if (options.no_compare || result.search.interrupted || !result.best) return beside;
  const auto run = load_run(result.folder);
  if (!run || !can_be_compared(*run)) return beside;
  if (!options.json)
    console.err << note_line("the winner beside PyTorch (--no-compare leaves it out)", console.err_style) << std::flush;
  PyTorchOptions how;
  how.seconds = 5;
  auto comparison = compare_run(result.folder, how, environment);
  if (comparison)
    beside.comparison = *std::move(comparison);
  else
    beside.problem = "it was not compared with PyTorch: " + one_line(comparison.error().message);
  return beside;
}

void show_json(const RunConfig& config, const OptimizeResult& result, const Beside& beside, const std::string& busy,
               Console& console) {
  using Json = nlohmann::ordered_json;
  const SearchProgress& progress = result.search.progress;
  Json json;
  json["schema"] = 1;
  json["best"] = result.best ? Json::parse(to_json(result.best->evaluation)) : Json();
  json["run"] = result.folder.string();
  json["best_step"] = result.search.best_step;
  json["standing"] = standing_name(result.standing);
  json["kernel"] = result.kernel ? Json(result.kernel->string()) : Json();
  json["naive"] = result.naive ? Json(result.naive->string()) : Json();
  json["stopped"] = result.search.stopped;
  json["interrupted"] = result.search.interrupted;
  json["search"] = config.search.search;
  json["seed"] = config.search.seed;
  json["steps"] = progress.steps;
  json["evaluations"] = progress.evaluations;
  json["refused"] = progress.failures;
  json["duplicates"] = progress.duplicates;
  json["cells"] = progress.cells;
  json["seconds"] = progress.seconds;
  json["pytorch"] = beside.comparison ? Json::parse(pytorch::to_json(*beside.comparison)) : Json();
  json["notes"] = busy.empty() ? Json::array() : Json::array({busy});
  if (!beside.problem.empty()) json["notes"].push_back(beside.problem);
  console.out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

}  // namespace

Status optimize(const OptimizeOptions& options, const Environment& environment, Console& console) {
  KERF_TRY(OptimizeRequest request, !options.replay.empty()   ? replayed_request(options)
                                    : !options.resume.empty() ? resumed_request(options, environment)
                                                              : new_request(options, environment, console));
  if (!request.resume) {
    KERF_TRY_VOID(check_output_folder(request.folder));
  }
  KERF_TRY(request.access, mind_access(options.minds, request.config.minds, environment));
  if (request.access.replay_chats.empty()) request.access.record_chats = request.config.record_chats;
  KERF_TRY(const auto memory, open_memory(request.config.memory, environment, console));
  request.memory = memory.get();
  KERF_TRY(const auto skills, open_skills(request.config.memory, environment));
  request.skills = skills.get();
  KERF_TRY(const auto prompts, open_prompts(request.config.memory, environment));
  request.prompts = prompts.get();
  KERF_TRY(const auto embeddings, open_embeddings(request.config.embedding, options.minds.key_file,
                                                  request.config.memory, environment, console));
  if (embeddings) request.likeness = embeddings->likeness.get();
  const auto sandbox = make_sandbox();
  const TargetResources resources = make_context(environment, *sandbox, options.jobs);
  const bool fresh = !request.resume && !request.config.minds.has_agent();  // agents may have been paid
  const InterruptGuard guard(fresh ? Results::none_yet : Results::some);
  NullRunObserver silent;
  std::optional<SearchView> view;
  if (!options.json) view.emplace(console, Screen{environment.err_is_terminal, terminal_columns});
  LoadWatch watch(view ? static_cast<RunObserver&>(*view) : silent);
  KERF_TRY(const OptimizeResult result, optimize_task(request, resources, watch, interrupted()));
  view.reset();
  const Beside beside = beside_pytorch(options, result, environment, console);
  if (options.json)
    show_json(request.config, result, beside, watch.words(), console);
  else
    console.out << (beside.comparison ? "\n" + comparison_text(*beside.comparison, console.out_style) : "")
                << run_summary(result, console.out_style, environment.called)
                << (beside.problem.empty() ? "" : "note    " + beside.problem + "\n")
                << (watch.words().empty() ? "" : "note    " + watch.words() + " (when the search began)\n")
                << std::flush;
  return {};
}

}  // namespace kerf::cli
