#include "run/optimize_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/rng.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "judge/shape_context.hpp"
#include "measure/peaks.hpp"
#include "propose/agents/knowledge.hpp"
#include "propose/agents/prompt_evolution.hpp"
#include "run/experience_context.hpp"
#include "run/kept_prompts.hpp"
#include "run/own_kernels.hpp"
#include "run/remembering.hpp"
#include "run/run_folder.hpp"
#include "run/run_skills.hpp"
#include "run/target_session.hpp"
#include "search/judge_evaluator.hpp"
#include "store/run_store.hpp"
#include "task/task.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

/// Keeps best.<ext> and what models were paid up to date, so that an interrupted run has them too, and tells the
/// experiences what became of the kernels they were shown for.
class BestKeeper final : public RunObserver {
 public:
  BestKeeper(RunObserver& next, fs::path file, RunStore& store, const Minds& minds, ExperienceContext* experiences)
      : next_(next), file_(std::move(file)), store_(store), minds_(minds), experiences_(experiences) {}
  void on_event(const RunEvent& event) override {
    if (const auto* finished = std::get_if<StepFinished>(&event)) {
      keep_best(finished->step, finished->progress.best_step);
      (void)keep_spending();
      if (experiences_ != nullptr) experiences_->observe(finished->step);
    }
    next_.on_event(event);
  }
  Status keep_spending() {
    const std::string now = minds_.spent_text();
    if (now == kept_) return {};
    kept_ = now;
    return store_.set("model_spending", now);
  }

 private:
  /// The best is the step at hand, or an earlier one where the best so far was refused when it was measured again.
  void keep_best(const Step& at_hand, std::int64_t best) {
    if (best == best_ || best == 0) return;
    best_ = best;
    const auto earlier = best == at_hand.number ? Result<Step>(at_hand) : store_.step(best);
    if (!earlier) return;
    (void)write_file_atomic(file_, earlier->source);  // a copy for people; the store has it
    (void)store_.set("best_step", std::to_string(best));
  }

  RunObserver& next_;
  fs::path file_;
  RunStore& store_;
  const Minds& minds_;
  ExperienceContext* experiences_;  // null: none are shown
  std::string kept_;
  std::int64_t best_ = 0;
};

/// Baseline times of the run's first measured step, so that later ones are compared with the same.
Judge::References first_references(const std::vector<Step>& steps) {
  for (const Step& step : steps)
    if (auto references = references_of(step.evaluation); !references.empty()) return references;
  return Judge::References{};
}

Status write_config(RunStore& store, const std::string& config) {
  KERF_TRY_VOID(write_file_atomic(store.folder() / "run.toml", config));
  return store.set("config", config);
}

std::string new_run_id(const OptimizeRequest& request) {
  std::error_code error;
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}", request.task.task.id, request.config.search.seed,
                                fs::absolute(request.folder, error).string(), SystemClock().wall_ms()))
      .substr(0, 16);
}

/// What a run is of, before its first step.
Status write_head(const OptimizeRequest& request, RunStore& store) {
  const RunConfig& config = request.config;
  KERF_TRY_VOID(store.set("target", config.target));
  KERF_TRY_VOID(store.set("seed", std::to_string(config.search.seed)));
  KERF_TRY_VOID(store.set("search", config.search.search));
  KERF_TRY_VOID(store.set("kerf_version", kKerfVersion));
  KERF_TRY_VOID(store.set("run_id", new_run_id(request)));
  if (!request.kernels.empty()) {
    KERF_TRY_VOID(store.set("own_kernels", to_json(request.kernels)));
  }
  KERF_TRY_VOID(write_config(store, to_toml(config, request.task.task.name)));
  return store_task(store, request.task);
}

Result<std::unique_ptr<RunStore>> create_store(const OptimizeRequest& request) {
  KERF_TRY(auto store, create_run_store(request.folder));
  if (Status written = write_head(request, *store); !written) {
    discard_run(*store);
    return tl::unexpected<Error>(std::move(written).error());
  }
  return store;
}

Result<std::unique_ptr<RunStore>> open_store(const OptimizeRequest& request) {
  KERF_TRY(auto store, open_run_store(request.folder, RunStore::Access::write));
  const std::string config = to_toml(request.config, request.task.task.name);
  KERF_TRY(const auto known, store->get("config"));
  if (config != known) {
    KERF_TRY_VOID(write_config(*store, config));
  }
  return store;
}

Status record_environment(RunStore& store, TargetSession& session, const fs::path& cache) {
  KERF_TRY_VOID(store.set("device", session.facts().name));
  KERF_TRY_VOID(store.set("toolchain", fmt::format("{}; {}; kerf {}", session.target().language->version(),
                                                   session.facts().driver, kKerfVersion)));
  if (!cache.empty())
    if (const auto peaks = load_peaks(cache, session.facts())) {
      KERF_TRY_VOID(store.set("peaks", nlohmann::json(peaks->rates).dump()));
    }
  return {};
}

Status check_kernels(const OptimizeRequest& request) {
  for (const Candidate& kernel : request.kernels) {
    if (kernel.target != request.config.target)
      return fail(Errc::invalid_input, fmt::format("{} is written for target '{}', but the search is for '{}'",
                                                   kernel.name, kernel.target, request.config.target));
    if (const auto fits = check_against(request.task.task, kernel); !fits)
      return fail(Errc::invalid_input, kernel.name + ": " + fits.error().message);
  }
  return {};
}

JudgeOptions judge_options(const RunConfig& config, const fs::path& cache) {
  JudgeOptions options = config.judge;
  options.seed = Rng(config.search.seed).fork("data").bits();
  options.cache = cache;
  options.use_evaluation_cache = false;  // a run's figures are its own
  return options;
}

/// Everything that runs a search, apart from where its steps are kept.
struct Machinery {
  std::unique_ptr<TargetSession> session;
  BuiltinInputs builtin;
  std::optional<memory::TaskSignature> signature;  ///< of tasks with an expression
  std::unique_ptr<ExperienceContext> experiences;  ///< null where no agent is asked or nothing is known
  std::vector<std::string> remarks;                ///< for people, of making it
  memory::TextSimilarity by_text;                  ///< of tasks that the memory knows, by an embedding model
  agents::SkillOffer offer;                        ///< skills that may be used
  std::vector<agents::PromptVariant> prompts;      ///< variants that the run begins with
  std::unique_ptr<Minds> minds;
};

/// The searches that are there to be compared with begin from nothing; a run that is followed again takes what it took.
bool looks_into_memory(const OptimizeRequest& request) {
  return request.memory != nullptr && request.config.search.search == SearchOptions{}.search &&
         request.follow.empty() && request.config.search.remembered > 0 && (!request.resume || request.remember_more);
}

/// Short searches take fewer remembered kernels: they count among the first guesses.
int remembered_limit(const SearchOptions& search) {
  if (search.evaluations <= 0) return search.remembered;
  return std::min(search.remembered, std::max(1, static_cast<int>(search.start_share * search.evaluations)));
}

/// What the memory has for the run's first guesses.
Result<memory::Recollection> recalled_for(const OptimizeRequest& request, const Machinery& made,
                                          std::vector<std::string>& skipped) {
  memory::RetrieveOptions options;
  options.rule = request.config.memory_rule;
  options.count = remembered_limit(request.config.search);
  options.by_text = made.by_text;
  memory::Recollection found = made.builtin.remembered;
  const std::uint64_t seed = request.config.search.seed;
  const bool builtin = request.config.minds.has(kBuiltinMind);
  if (builtin) {
    KERF_TRY(found, recall(*request.memory, *made.signature, options, seed, std::move(found), skipped));
  }
  if (request.config.minds.has_agent()) {
    options.count = std::max(1, options.count / 2);
    KERF_TRY_VOID(
        recall_sources(*request.memory, request.task.task.id, *made.signature, options, builtin, seed, found));
  }
  return found;
}

/// A memory that cannot be read is no reason not to search.
Status fill_remembered(const OptimizeRequest& request, Machinery& made) {
  if (!request.remembered.empty()) {
    KERF_TRY(made.builtin.remembered, memory::recollection_from_json(request.remembered));
  }
  if (!looks_into_memory(request) || !made.signature) return {};
  std::vector<std::string> skipped;
  auto found = recalled_for(request, made, skipped);
  if (!skipped.empty())
    made.remarks.push_back(
        fmt::format("{} records of the memory cannot be read and are left out; {}", skipped.size(), skipped[0]));
  if (found)
    made.builtin.remembered = *std::move(found);
  else
    made.remarks.push_back("the memory cannot be read, the search begins without it: " + found.error().message);
  return {};
}

/// Experiences for the questions to agents. A run that is resumed shows them too: they are chosen anew for each.
void open_experiences(const OptimizeRequest& request, Machinery& made) {
  const RunConfig& config = request.config;
  if (request.memory == nullptr || !made.signature || !config.minds.has_agent() || config.search.remembered <= 0 ||
      config.search.search != SearchOptions{}.search)
    return;
  std::string run;
  if (request.resume)
    if (const auto store = open_run_store(request.folder, RunStore::Access::read)) run = run_id(**store).value_or("");
  memory::ShownOptions options;
  options.rule = config.memory_rule;
  options.by_text = made.by_text;
  std::vector<std::string> skipped;
  auto opened = ExperienceContext::open(*request.memory, *made.signature, options, run,
                                        target_extension(config.target).substr(1), skipped);
  if (opened && (*opened)->size() > 0) made.experiences = *std::move(opened);
}

/// Every source of knowledge that questions are asked with, one after the other.
agents::SelectContext context_of(const OptimizeRequest& request, const Machinery& made) {
  const std::string family = made.signature ? made.signature->family : "";
  std::vector<agents::KnowledgeEntry> knowledge;
  if (request.config.minds.knowledge) knowledge = agents::knowledge_of(request.config.target);
  return [first = request.access.context, experiences = made.experiences.get(), knowledge = std::move(knowledge),
          family](const ProposalRequest& asked) {
    std::vector<agents::ContextItem> items;
    if (first) items = first(asked);
    if (experiences != nullptr)
      for (agents::ContextItem& item : experiences->select(asked)) items.push_back(std::move(item));
    for (agents::ContextItem& item : agents::select_knowledge(knowledge, family, asked))
      items.push_back(std::move(item));
    return items;
  };
}

/// The builtin mind, if it is asked, with what it remembers.
Status make_builtin(const OptimizeRequest& request, const fs::path& cache, Machinery& made) {
  const Task& task = request.task.task;
  if (task.graph) made.signature = signature_for(task, request.config.target, made.session->facts());
  if (made.signature && request.likeness != nullptr && request.memory != nullptr && !request.trial)
    made.by_text = text_similarities(*request.memory, *made.signature, *request.likeness);
  if (!request.config.minds.has(kBuiltinMind)) return fill_remembered(request, made);
  const auto peaks = load_peaks(cache, made.session->facts());
  KERF_TRY(made.builtin.synthesiser,
           synth::Synthesiser::create(task, request.config.target, made.session->target().language->dialect(),
                                      made.session->facts(), peaks ? peaks->rates : std::map<std::string, double>{}));
  return fill_remembered(request, made);
}

/// Skills are looked for at the beginning of a run; one that is resumed or followed again has the same. A store that
/// cannot be read is no reason not to search.
Status fill_offer(const OptimizeRequest& request, Machinery& made) {
  const RunConfig& config = request.config;
  if (request.trial) {
    made.offer = *request.trial;
  } else if (!request.offered.empty()) {
    KERF_TRY(made.offer, offer_from_json(request.offered));
  } else if (request.skills != nullptr && config.skill_rule != SkillRule::off && !request.resume &&
             request.follow.empty() && config.search.search == SearchOptions{}.search) {
    std::vector<std::string> skipped;
    const auto known = skill::all_skills(*request.skills, skipped);
    if (known)
      made.offer.skills = shortlist(*known, config.skill_rule, request.task, config.target, request.likeness);
    else
      made.remarks.push_back("skills cannot be read, the search begins without them: " + known.error().message);
  }
  if (made.builtin.synthesiser)
    made.builtin.hinted = skill_kernels(made.offer, request.task.task, *made.builtin.synthesiser, config.search.seed,
                                        static_cast<std::size_t>(remembered_limit(config.search)));
  return {};
}

bool shares_prompts(const OptimizeRequest& request) {
  const MindConfig& minds = request.config.minds;
  return request.prompts != nullptr && !request.trial && minds.has(kLlmMind) && minds.shared_prompts &&
         minds.prompt_rule != agents::PromptRule::frozen;
}

/// Prompts of earlier runs are looked for at the beginning, likewise.
Status fill_prompts(const OptimizeRequest& request, Machinery& made) {
  if (!request.begun.empty()) {
    KERF_TRY(made.prompts, variants_from_json(request.begun));
  } else if (shares_prompts(request) && !request.resume && request.follow.empty()) {
    const auto kept = request.prompts->prompts(request.config.target);
    if (kept)
      made.prompts = prompts_to_begin_with(*kept, agents::seed_sections());
    else
      made.remarks.push_back("kept prompts cannot be read, the search begins with the seed: " + kept.error().message);
  }
  return {};
}

Result<Machinery> make_machinery(const OptimizeRequest& request, const TargetResources& resources) {
  const RunConfig& config = request.config;
  Machinery made;
  KERF_TRY(made.session, TargetSession::open(request.task.task, config.target, config.device, resources));
  KERF_TRY_VOID(make_builtin(request, resources.cache, made));
  KERF_TRY_VOID(fill_offer(request, made));
  KERF_TRY_VOID(fill_prompts(request, made));
  open_experiences(request, made);
  if (request.likeness != nullptr)
    if (const std::string problem = request.likeness->untold_problem(); !problem.empty())
      made.remarks.push_back("what is alike is found without embeddings: " + problem);
  MindAccess access = request.access;
  access.context = context_of(request, made);
  access.skills = made.offer;
  if (request.skills != nullptr && config.skill_rule != SkillRule::off) access.family = family_of(request.task.task);
  KERF_TRY(made.minds, Minds::open(config.minds, access, request.task, request.kernels, made.builtin, *made.session,
                                   resources.cache, Rng(config.search.seed).fork("minds").bits()));
  return made;
}

/// Who reads the run sees what it began with, whatever becomes of the memory.
Status note_remembered(RunStore& store, const Machinery& machinery, RunObserver& observer) {
  for (const std::string& remark : machinery.remarks) observer.on_event(RunNote{remark});
  const auto& items = machinery.builtin.remembered.items;
  if (!items.empty() || !machinery.builtin.remembered.advice.empty()) {
    KERF_TRY_VOID(store.set("remembered", to_json(machinery.builtin.remembered)));
  }
  std::vector<std::string> tasks;
  for (const memory::Recalled& one : items)
    if (std::find(tasks.begin(), tasks.end(), one.task) == tasks.end()) tasks.push_back(one.task);
  if (machinery.experiences) {
    KERF_TRY_VOID(store.set("experiences", machinery.experiences->tasks_text()));
    observer.on_event(
        RunNote{fmt::format("the memory has {} to show to who writes kernels",
                            counted(static_cast<std::int64_t>(machinery.experiences->size()), "experience"))});
  }
  if (!items.empty())
    observer.on_event(
        RunNote{fmt::format("the memory has {} of tasks like this one ({}), tried first",
                            counted(static_cast<std::int64_t>(items.size()), "kernel"), join(tasks, ", "))});
  return {};
}

/// Likewise for skills.
Status note_skills(RunStore& store, const Machinery& machinery, RunObserver& observer) {
  if (machinery.offer.skills.empty()) return {};
  KERF_TRY_VOID(store.set("skills", to_json(machinery.offer)));
  std::vector<std::string> names;
  for (const skill::Skill& one : machinery.offer.skills) names.push_back(one.name);
  observer.on_event(RunNote{
      fmt::format("{} may apply: {}", counted(static_cast<std::int64_t>(names.size()), "skill"), join(names, ", "))});
  return {};
}

/// Likewise for prompts.
Status note_prompts(RunStore& store, const Machinery& machinery, RunObserver& observer) {
  if (machinery.prompts.empty()) return {};
  const std::string seed = agents::sections_id(agents::seed_sections());
  const auto others = std::count_if(machinery.prompts.begin(), machinery.prompts.end(),
                                    [&](const agents::PromptVariant& one) { return one.id != seed; });
  KERF_TRY_VOID(store.set(kPromptsFact, to_json(machinery.prompts)));
  if (others > 0)
    observer.on_event(RunNote{fmt::format("the prompt begins with {} of earlier runs ('kerf prompts list')",
                                          counted(static_cast<std::int64_t>(others), "variant"))});
  return {};
}

/// What was found is worth less than the run itself: a memory that cannot be written to is only noted.
void leave_skills(const OptimizeRequest& request, const RunStore& store, Machinery& machinery, RunObserver& observer) {
  if (request.skills == nullptr || request.trial || request.config.skill_rule == SkillRule::off) return;
  const auto lessons = learn_skills(*request.skills, store, request.task, request.config.target,
                                    machinery.builtin.synthesiser.get(), machinery.session->clock().wall_ms());
  if (!lessons) {
    observer.on_event(RunNote{"skills cannot be added to: " + lessons.error().message});
    return;
  }
  if (!lessons->added.empty())
    observer.on_event(
        RunNote{fmt::format("written down as a skill, not verified yet: {}", join(lessons->added, ", "))});
  if (!lessons->retired.empty())
    observer.on_event(RunNote{fmt::format("skills that helped no more are retired: {}", join(lessons->retired, ", "))});
}

void leave_behind(const OptimizeRequest& request, const RunStore& store, Machinery& machinery, RunObserver& observer) {
  leave_skills(request, store, machinery, observer);
  if (shares_prompts(request))
    if (const Status kept =
            keep_prompts(*request.prompts, store, request.config.target, machinery.session->clock().wall_ms());
        !kept)
      observer.on_event(RunNote{"prompts cannot be kept: " + kept.error().message});
  if (request.memory == nullptr || !machinery.signature) return;
  const Status kept =
      remember(*request.memory, store, request.task.task, *machinery.signature, machinery.builtin.synthesiser.get(),
               request.config.memory_rule, machinery.session->clock().wall_ms());
  if (!kept) observer.on_event(RunNote{"the memory cannot be added to: " + kept.error().message});
}

/// The stronger of the plain kernels: the winner itself, or the one that the winner's speedup is over.
Result<std::string> plain_to_offer(const Task& task, const Target& target, const std::optional<Step>& best) {
  const auto* measured = best ? std::get_if<Measurement>(&best->evaluation.outcome) : nullptr;
  if (best && is_fallback(*best)) return best->source;
  if (measured != nullptr && measured->speedup.vs == kParallelBaseline) return naive_parallel_source(task, target);
  return naive_source(task, target);
}

/// Where nothing was faster than the plain kernel, that one is what the user should have, unless it was refused itself.
Status offer_naive(const Task& task, const Target& target, const std::string& extension, const RunStore& store,
                   OptimizeResult& result) {
  if (result.standing == Standing::faster || result.search.interrupted) return {};
  KERF_TRY(const auto steps, store.steps());
  KERF_TRY(const std::string source, plain_to_offer(task, target, result.best));
  if (source.empty() || !naive_is_usable(steps, source)) return {};
  result.naive = result.folder / ("naive" + extension);
  return write_file_atomic(*result.naive, source);
}

Result<OptimizeResult> search_in(RunStore& store, const OptimizeRequest& request, Machinery& machinery,
                                 const TargetResources& resources, RunObserver& observer,
                                 const std::atomic<bool>& interrupted) {
  TargetSession& session = *machinery.session;
  const std::string extension = target_extension(request.config.target);
  OptimizeResult result;
  result.folder = request.folder;
  const fs::path best = result.folder / ("best" + extension);
  KERF_TRY_VOID(record_environment(store, session, resources.cache));
  KERF_TRY(const auto earlier, store.steps());
  auto references = first_references(earlier);
  KERF_TRY(const auto spent, store.get("model_spending"));
  machinery.minds->add_spent(earlier, spent.value_or(""));
  KERF_TRY_VOID(machinery.minds->restore(store, machinery.prompts));
  SearchOptions search = request.config.search;
  if (search.at_once == 1 && !session.facts().runs_on_host) search.at_once = 4;
  const RunMark mark{request.resume ? "resumed" : "started",
                     {{"task", request.task.task.name},
                      {"target", request.config.target},
                      {"device", session.facts().name},
                      {"runs_on_host", session.facts().runs_on_host ? "yes" : "no"},
                      {"folder", result.folder.string()}}};
  if (request.resume) KERF_TRY_VOID(store.set("finished", ""));  // until it ends again
  KERF_TRY_VOID(store.record(mark));
  observer.on_event(mark);
  KERF_TRY_VOID(note_remembered(store, machinery, observer));
  KERF_TRY_VOID(note_skills(store, machinery, observer));
  KERF_TRY_VOID(note_prompts(store, machinery, observer));
  JudgeEvaluator evaluator(request.task.task, session.tools(), judge_options(request.config, resources.cache),
                           std::move(references));
  BestKeeper keeper(observer, best, store, *machinery.minds, machinery.experiences.get());
  if (machinery.experiences)
    for (const Step& step : earlier) machinery.experiences->observe(step);
  SearchInputs inputs{machinery.minds->proposers(), evaluator, store, session.clock(), interrupted};
  inputs.target = request.config.target;
  if (!request.follow.empty()) inputs.follow = &request.follow;
  KERF_TRY(const std::string naive, naive_source(request.task.task, session.target()));
  KERF_TRY(const std::string parallel, naive_parallel_source(request.task.task, session.target()));
  if (!parallel.empty())
    inputs.fallbacks.push_back({kParallelBaseline, parallel, "", {}, "the naive kernel, threaded"});
  if (!naive.empty()) inputs.fallbacks.push_back({kNaiveBaseline, naive, "", {}, "the naive kernel"});
  auto searched = kerf::optimize(inputs, search, keeper);
  const Status kept = keeper.keep_spending();  // also of a search that failed: it was paid
  KERF_TRY(result.search, std::move(searched));
  KERF_TRY_VOID(kept);
  leave_behind(request, store, machinery, observer);
  if (result.search.best_step > 0) {
    KERF_TRY(result.best, store.step(result.search.best_step));
    KERF_TRY_VOID(write_file_atomic(best, result.best->source));
    result.kernel = best;
    if (const auto* measured = std::get_if<Measurement>(&result.best->evaluation.outcome))
      result.standing = standing_of(measured->speedup);
  } else {
    std::error_code none;  // what was the best until it was measured again
    fs::remove(best, none);
  }
  KERF_TRY_VOID(offer_naive(request.task.task, session.target(), extension, store, result));
  return result;
}

}  // namespace

Result<OptimizeResult> optimize_task(const OptimizeRequest& request, const TargetResources& resources,
                                     RunObserver& observer, const std::atomic<bool>& interrupted) {
  KERF_TRY_VOID(check_kernels(request));
  KERF_TRY_VOID(check_minds(request.config.minds));
  std::optional<StartedFolder> started;
  if (!request.resume) {
    KERF_TRY(StartedFolder folder, StartedFolder::check(request.folder));
    started.emplace(std::move(folder));
  }
  KERF_TRY(Machinery machinery, make_machinery(request, resources));
  KERF_TRY(const auto store, request.resume ? open_store(request) : create_store(request));
  auto result = search_in(*store, request, machinery, resources, observer, interrupted);
  if (!started) return result;
  const auto steps = store->steps();
  if (result || !steps || !steps->empty())
    started->keep();
  else
    discard_run(*store);
  return result;
}

Result<OptimizeRequest> stored_request(const fs::path& folder) {
  KERF_TRY(const auto store, open_run_store(folder, RunStore::Access::read));
  KERF_TRY(const auto facts, store->facts());
  OptimizeRequest request;
  request.folder = folder;
  request.resume = true;
  KERF_TRY(request.task, stored_task(facts, folder.string()));
  const auto config = facts.find("config");
  if (config == facts.end())
    return fail(Errc::invalid_input, folder.string() + " has no configuration; start it afresh");
  KERF_TRY(request.config, config_from_toml(config->second));
  if (const auto remembered = facts.find("remembered"); remembered != facts.end())
    request.remembered = remembered->second;
  if (const auto skills = facts.find("skills"); skills != facts.end()) request.offered = skills->second;
  if (const auto prompts = facts.find(kPromptsFact); prompts != facts.end()) request.begun = prompts->second;
  const auto kernels = facts.find("own_kernels");
  KERF_TRY(request.kernels, kernels_from_json(kernels == facts.end() ? "" : kernels->second, request.config.target));
  return request;
}

Result<OptimizeRequest> replay_request(const fs::path& recorded) {
  KERF_TRY(OptimizeRequest request, stored_request(recorded));
  KERF_TRY(const auto store, open_run_store(recorded, RunStore::Access::read));
  KERF_TRY(request.follow, store->steps());
  if (request.follow.empty())
    return fail(Errc::invalid_input, recorded.string() + " has no steps that could be followed");
  request.resume = false;
  request.folder.clear();
  request.config.record_chats.clear();  // the recorded run's file is not added to
  return request;
}

fs::path new_run_folder(const fs::path& runs, const std::string& task, const std::string& target,
                        std::int64_t wall_ms) {
  const auto seconds = static_cast<std::time_t>(wall_ms / 1000);
  std::tm parts{};
  char time[32];
  ::gmtime_r(&seconds, &parts);
  std::strftime(time, sizeof time, "%Y%m%d-%H%M%S", &parts);
  const fs::path base = runs / fmt::format("{}-{}-{}", task, target, time);
  fs::path folder = base;
  std::error_code error;
  for (int i = 2; fs::exists(folder, error); ++i) folder = base.string() + fmt::format("-{}", i);
  return folder;
}

}  // namespace kerf
