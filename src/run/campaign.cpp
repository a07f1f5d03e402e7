#include "run/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.hpp"
#include "base/rng.hpp"
#include "memory/operators.hpp"
#include "run/remembering.hpp"
#include "run/run_folder.hpp"
#include "store/find_run.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json entry_json(const CampaignEntry& entry) {
  Json json{{"task", entry.task},
            {"run", entry.folder.string()},
            {"rounds_done", entry.rounds_done},
            {"error", entry.error},
            {"standing", standing_name(entry.standing)},
            {"kernel", entry.kernel},
            {"plain", entry.plain},
            {"stopped", entry.stopped},
            {"evaluations", entry.evaluations},
            {"remembered", entry.remembered},
            {"best_is_remembered", entry.best_is_remembered},
            {"seconds", entry.seconds},
            {"searched", entry.searched},
            {"tokens", entry.tokens},
            {"cost_usd", entry.cost_usd},
            {"best", nullptr}};
  if (entry.best)
    json["best"] = {
        {"vs", entry.best->vs}, {"ratio", entry.best->ratio}, {"low", entry.best->low}, {"high", entry.best->high}};
  return json;
}

/// Who searches, and what all searches together may use; 0: no limit.
Json terms_json(const RunConfig& config) {
  const llm::BudgetLimits& budget = config.minds.budget;
  return {{"minds", config.minds.names},
          {"seconds", config.search.seconds},
          {"tokens", budget.tokens},
          {"cost_usd", budget.cost_usd}};
}

/// What was kept of a campaign: enough to go on; the rest is in its runs.
Status write_campaign(const CampaignResult& result, const CampaignRequest& request) {
  Json json{{"schema", 1},
            {"seed", std::to_string(result.seed)},
            {"target", request.config.target},
            {"evaluations", request.config.search.evaluations},
            {"rounds", request.rounds},
            {"terms", terms_json(request.config)},
            {"tasks", Json::array()}};
  for (const CampaignEntry& entry : result.entries) {
    json["tasks"].push_back(entry_json(entry));
    json["tasks"].back()["run"] = entry.folder.filename().string();  // so that the campaign's folder can be moved
  }
  if (result.recheck) json["skills"] = Json::parse(to_json(*result.recheck));
  return write_file_atomic(result.folder / kCampaignFile,
                           json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Standing standing_named(const std::string& name) {
  for (const Standing one : {Standing::faster, Standing::undecided, Standing::slower, Standing::untimed})
    if (standing_name(one) == name) return one;
  return Standing::untimed;
}

/// Fills in what an earlier process did. The file is the user's; what does not fit is started afresh.
Status read_campaign(const CampaignRequest& request, CampaignResult& result) {
  std::error_code error;
  const fs::path file = request.folder / kCampaignFile;
  if (!fs::exists(file, error)) {
    if (fs::exists(request.folder / "kerf.db", error))
      return fail(
          Errc::invalid_input,
          fmt::format("{} holds a run already, and a campaign has a folder of its own: choose another with --out",
                      request.folder.string()));
    KERF_TRY(StartedFolder unused, StartedFolder::check(request.folder));
    unused.keep();
    return {};
  }
  KERF_TRY(const std::string text, read_file(file));
  const Json json = Json::parse(text, nullptr, false);
  const auto damaged = [&] {
    return fail(Errc::invalid_input, fmt::format("{} cannot be read; choose another folder with --out", file.string()));
  };
  try {
    if (!json.is_object() || json.at("schema") != 1) return damaged();
    if (json.at("target") != request.config.target)
      return fail(Errc::invalid_input,
                  fmt::format("{} is a campaign for target '{}', not '{}'; choose another folder with --out",
                              request.folder.string(), json.at("target").get<std::string>(), request.config.target));
    const auto seed = json.at("seed").get<std::string>();
    if (std::from_chars(seed.data(), seed.data() + seed.size(), result.seed).ec != std::errc()) return damaged();
    if (request.own_seed && result.seed != request.config.search.seed)
      return fail(Errc::invalid_input,
                  fmt::format("{} is a campaign with seed {}, which it keeps; leave --seed out, or choose another "
                              "folder with --out",
                              request.folder.string(), result.seed));
    const bool same =
        json.at("rounds") == request.rounds && json.at("evaluations") == request.config.search.evaluations &&
        json.value("terms", terms_json(RunConfig{})) == terms_json(request.config);  // older ones have none
    for (const Json& item : json.at("tasks"))
      for (CampaignEntry& entry : result.entries) {
        if (item.at("task") != entry.task) continue;
        entry.folder = request.folder / fs::path(item.at("run").get<std::string>()).filename();
        entry.rounds_done = same ? item.at("rounds_done").get<int>() : 0;
        entry.standing = standing_named(item.at("standing").get<std::string>());
        entry.kernel = item.at("kernel").get<std::string>();
        entry.plain = item.value("plain", false);  // older ones have neither
        entry.stopped = item.value("stopped", std::string());
        entry.evaluations = item.at("evaluations").get<int>();
        entry.remembered = item.at("remembered").get<int>();
        entry.best_is_remembered = item.at("best_is_remembered").get<bool>();
        entry.seconds = item.at("seconds").get<double>();
        entry.searched = item.value("searched", entry.seconds);
        entry.tokens = item.value("tokens", std::int64_t{0});
        entry.cost_usd = item.value("cost_usd", 0.0);
        if (item.contains("best") && item["best"].is_object())
          entry.best = Speedup{item["best"].at("vs").get<std::string>(), item["best"].at("ratio").get<double>(),
                               item["best"].at("low").get<double>(), item["best"].at("high").get<double>()};
      }
    if (json.contains("skills")) {
      KERF_TRY(result.recheck, recheck_from_json(json["skills"].dump()));
    }
  } catch (const nlohmann::json::exception&) {
    return damaged();
  }
  return {};
}

/// Whether a step or one of its ancestors came from the memory.
bool is_remembered(const std::vector<Step>& steps, std::int64_t number) {
  std::set<std::int64_t> seen;
  std::vector<std::int64_t> open{number};
  while (!open.empty()) {
    const std::int64_t at = open.back();
    open.pop_back();
    if (at < 1 || at > static_cast<std::int64_t>(steps.size()) || !seen.insert(at).second) continue;
    const Step& step = steps[static_cast<std::size_t>(at - 1)];
    if (step.proposer == kMemoryMind) return true;
    open.insert(open.end(), step.parents.begin(), step.parents.end());
  }
  return false;
}

Status fill_entry(const OptimizeResult& run, CampaignEntry& entry) {
  entry.best.reset();
  entry.plain = run.best && is_fallback(*run.best);
  if (run.best) {
    entry.kernel = run.best->name;
    if (const auto* measured = std::get_if<Measurement>(&run.best->evaluation.outcome);
        measured != nullptr && !entry.plain)
      entry.best = measured->speedup;
  }
  entry.standing = run.standing;
  entry.evaluations = run.search.progress.evaluations;
  entry.seconds = run.search.progress.seconds;
  KERF_TRY(const auto store, open_run_store(run.folder, RunStore::Access::read));
  KERF_TRY(const auto steps, store->steps());
  entry.remembered = static_cast<int>(std::count_if(steps.begin(), steps.end(), [](const Step& step) {
    return step.proposer == kMemoryMind && step.stage == Stage::start;
  }));
  entry.best_is_remembered = is_remembered(steps, run.search.best_step);
  return {};
}

/// What the run of a task has spent so far, however it ended: what was paid counts.
Status count_spending(CampaignEntry& entry) {
  std::error_code error;
  if (!fs::exists(entry.folder / "kerf.db", error)) return {};
  KERF_TRY(const auto store, open_run_store(entry.folder, RunStore::Access::read));
  KERF_TRY(const auto steps, store->steps());
  KERF_TRY(const auto kept, store->get("model_spending"));
  const llm::Usage spent = spent_on_models(steps, kept.value_or(""));
  entry.tokens = spent.tokens();
  entry.cost_usd = spent.cost_usd;
  return {};
}

/// What every run of the campaign has, whether it is new or goes on.
OptimizeRequest with_campaign(OptimizeRequest run, const CampaignRequest& campaign, int evaluations,
                              const CampaignShare& share) {
  run.config.search.evaluations = evaluations;
  run.config.search.seconds = share.seconds;
  run.config.memory = campaign.config.memory;
  run.config.minds = campaign.config.minds;
  run.config.minds.budget = share.budget;
  run.access = campaign.access;
  run.memory = campaign.memory;
  run.skills = campaign.skills;
  run.prompts = campaign.prompts;
  run.likeness = campaign.likeness;
  return run;
}

/// The run of a task: the one that was begun, or a new one.
Result<OptimizeRequest> request_for(const CampaignRequest& campaign, const TaskText& task, std::uint64_t seed,
                                    int evaluations, const CampaignShare& share, CampaignEntry& entry) {
  std::error_code error;
  if (fs::exists(entry.folder / "kerf.db", error)) {
    if (auto stored = stored_request(entry.folder); stored && stored->task.task.id == task.task.id) {
      stored->remember_more = true;
      return with_campaign(*std::move(stored), campaign, evaluations, share);
    }
    const fs::path base = entry.folder;  // another task, or one that never began: it is left as it is
    for (int i = 2; fs::exists(entry.folder, error); ++i) entry.folder = base.string() + fmt::format("-{}", i);
  }
  OptimizeRequest request;
  request.task = task;
  request.config = campaign.config;
  request.config.search.seed = Rng(seed).fork("campaign " + task.task.name).bits();
  request.folder = entry.folder;
  return with_campaign(std::move(request), campaign, evaluations, share);
}

/// Tries a few verified skills again, once a campaign. Models and programs are not asked for that, because a trial
/// takes hundreds of answers.
Status recheck_at_the_end(const CampaignRequest& request, const TargetResources& resources, CampaignObserver& observer,
                          const std::atomic<bool>& interrupted, CampaignResult& result) {
  const RunConfig& config = request.config;
  if (request.skills == nullptr || config.skill_rule == SkillRule::off || interrupted || config.minds.has_agent())
    return {};
  const double all = static_cast<double>(config.search.evaluations) * static_cast<double>(request.tasks.size());
  const int budget = request.recheck >= 0 ? request.recheck : static_cast<int>(kRecheckBudgetShare * all);
  if (result.recheck && result.recheck->budget >= budget) return {};  // done; a campaign that has grown tries more
  std::vector<TaskText> known = request.tasks;
  std::set<std::string> names;
  for (const TaskText& one : known) names.insert(one.task.name);
  for (const TaskText& one : request.samples)
    if (names.insert(one.task.name).second) known.push_back(one);
  RunConfig own = config;
  own.search.seed = result.seed;
  const fs::path folder = request.folder / "skills";
  const auto try_one = [&](const SkillTrial& trial) { return try_skill(trial, resources, {}, interrupted); };
  KERF_TRY(Recheck recheck, recheck_skills(*request.skills, own, known, budget, folder, try_one,
                                           [&](const RecheckedSkill& one) { observer.skill_rechecked(one); }));
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (interrupted) {
    result.interrupted = true;
    return {};
  }
  result.recheck = std::move(recheck);
  return write_campaign(result, request);
}

/// The builtin mind writes kernels of expressions only.
Status check_searchable(const CampaignRequest& request) {
  if (request.config.minds.has_agent()) return {};
  for (const TaskText& text : request.tasks)
    if (!text.task.graph)
      return fail(Errc::invalid_input,
                  fmt::format("task '{0}' has a C++ reference, and the builtin mind writes kernels of expressions "
                              "([reference] expr); leave it out, or add --mind llm or --mind command",
                              text.task.name));
  return {};
}

/// Turns that are left from `round` and task `at` on, that one included.
std::size_t turns_left(const std::vector<CampaignEntry>& entries, int round, std::size_t at, int rounds) {
  std::size_t turns = 0;
  for (std::size_t j = 0; j < entries.size(); ++j)
    for (int r = round; r <= rounds; ++r)
      turns += entries[j].rounds_done < r && (r > round || j >= at) && (r == 1 || entries[j].error.empty()) ? 1 : 0;
  return std::max(turns, std::size_t{1});
}

bool is_untouched(const CampaignResult& result) {
  return std::ranges::all_of(
      result.entries, [](const CampaignEntry& entry) { return entry.rounds_done == 0 && entry.evaluations == 0; });
}

/// What `write_campaign` made of a campaign that never began.
void remove_campaign(const fs::path& folder) {
  std::error_code error;
  fs::remove(folder / kCampaignFile, error);
  fs::remove(folder, error);  // where nothing else is in it
}

/// Why no search can be made any more; "" while one can.
std::string used_up(const RunConfig& limits, const std::vector<CampaignEntry>& entries) {
  CampaignEntry all;
  for (const CampaignEntry& entry : entries) {
    all.searched += entry.searched;
    all.tokens += entry.tokens;
    all.cost_usd += entry.cost_usd;
  }
  const llm::BudgetLimits& budget = limits.minds.budget;
  if (limits.search.seconds > 0 && all.searched >= limits.search.seconds)
    return fmt::format("the campaign's time of {:.0f} s is used up", limits.search.seconds);
  if (limits.minds.names != std::vector<std::string>{kLlmMind}) return "";
  if (budget.tokens > 0 && all.tokens >= budget.tokens)
    return fmt::format("the campaign's budget of {} tokens is used up", budget.tokens);
  if (budget.cost_usd > 0 && all.cost_usd >= budget.cost_usd)
    return fmt::format("the campaign's budget of {} USD is used up", budget.cost_usd);
  return "";
}

}  // namespace

CampaignShare share_of(const RunConfig& limits, const std::vector<CampaignEntry>& entries, const CampaignEntry& own,
                       std::size_t turns) {
  // A limit of 0 is none, so where nothing is left it is as good as nothing.
  const auto share = [&](double limit, double nothing, auto counted, auto of) {
    if (limit <= 0) return 0.0;
    double left = limit;
    for (const CampaignEntry& entry : entries) left -= static_cast<double>(entry.*counted);
    return std::max(nothing, static_cast<double>(own.*of) + std::max(0.0, left) / static_cast<double>(turns));
  };
  const llm::BudgetLimits& budget = limits.minds.budget;
  const auto tokens = static_cast<double>(budget.tokens);
  return {share(limits.search.seconds, 1e-3, &CampaignEntry::searched, &CampaignEntry::seconds),
          {static_cast<std::int64_t>(share(tokens, 1, &CampaignEntry::tokens, &CampaignEntry::tokens)),
           share(budget.cost_usd, 1e-9, &CampaignEntry::cost_usd, &CampaignEntry::cost_usd)}};
}

std::string to_json(const CampaignEntry& entry) {
  return entry_json(entry).dump(-1, ' ', false, Json::error_handler_t::replace);
}

double difficulty(const Task& task) {
  if (!task.graph) return 1e9;
  double sum = 0;
  for (const ir::Node& node : task.graph->nodes) {
    const std::string word = memory::operator_word(node);
    const auto is_kind = [&](std::string_view kind) {
      return word == kind || word.starts_with(std::string(kind) + ".");
    };
    sum += is_kind("conv")                                                    ? 8
           : is_kind("contract")                                              ? 6
           : is_kind("scan") || is_kind("top")                                ? 3
           : is_kind("reduce") || is_kind("pool") || is_kind("adaptive_pool") ? 2
           : is_kind("input") || is_kind("constant") || is_kind("view")       ? 0
                                                                              : 0.2;
  }
  return sum;
}

Result<CampaignResult> run_campaign(const CampaignRequest& request, const TargetResources& resources,
                                    CampaignObserver& observer, const std::atomic<bool>& interrupted) {
  KERF_TRY_VOID(check_searchable(request));
  std::vector<const TaskText*> order;
  std::set<std::string> names;
  for (const TaskText& text : request.tasks) {
    order.push_back(&text);
    if (!names.insert(text.task.name).second)
      return fail(Errc::invalid_input,
                  fmt::format("two tasks are named '{}'; a campaign tells them apart by name: leave one out, or give "
                              "its file another name = \"...\" at the top",
                              text.task.name));
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const TaskText* a, const TaskText* b) { return difficulty(a->task) < difficulty(b->task); });
  CampaignResult result;
  result.folder = request.folder;
  result.seed = request.config.search.seed;
  for (const TaskText* text : order) {
    CampaignEntry entry;
    entry.task = text->task.name;
    entry.folder = request.folder / fmt::format("{}-{}", text->task.name, request.config.target);
    result.entries.push_back(std::move(entry));
  }
  KERF_TRY_VOID(read_campaign(request, result));
  // A process that was killed may have spent more than it wrote down here. A run that cannot be read fails as a task.
  for (CampaignEntry& entry : result.entries) (void)count_spending(entry);
  KERF_TRY_VOID(write_campaign(result, request));
  const int all = request.config.search.evaluations;
  for (int round = 1; round <= request.rounds; ++round)
    for (std::size_t i = 0; i < order.size(); ++i) {
      CampaignEntry& entry = result.entries[i];
      if (interrupted) {
        result.interrupted = true;
        return result;
      }
      if (entry.rounds_done >= round || (round > 1 && !entry.error.empty())) continue;
      if (std::string reason = used_up(request.config, result.entries); !reason.empty()) {
        entry.stopped = std::move(reason);
        continue;
      }
      observer.task_started(round, i, entry);
      const int evaluations =
          all == 0 ? 0 : std::max(1, static_cast<int>(std::ceil(static_cast<double>(all) * round / request.rounds)));
      const CampaignShare share =
          share_of(request.config, result.entries, entry, turns_left(result.entries, round, i, request.rounds));
      entry.error.clear();
      const double before = entry.seconds;
      auto run = request_for(request, *order[i], result.seed, evaluations, share, entry)
                     .and_then([&](const OptimizeRequest& one) {
                       return optimize_task(one, resources, observer.run_observer(), interrupted);
                     });
      Status filled = run ? fill_entry(*run, entry) : Status{};
      if (const Status counted = count_spending(entry); filled && run) filled = counted;
      // Finalists are measured again beyond the share.
      if (share.seconds > 0) entry.searched += std::max(0.0, std::min(entry.seconds, share.seconds) - before);
      if (!run && run.error().code == Errc::unavailable && is_untouched(result)) {
        remove_campaign(result.folder);  // the target cannot be used: no task can be searched
        return tl::unexpected<Error>(std::move(run).error());
      }
      if (!run)
        entry.error = run.error().message;
      else if (!filled)
        entry.error = filled.error().message;
      else if (!run->search.interrupted) {
        const bool all_made = evaluations > 0 && run->search.progress.evaluations >= evaluations;
        const bool shares = request.config.search.seconds > 0 || request.config.minds.budget != llm::BudgetLimits{};
        // One that ended for a reason of its own needs no further round; one that used up its share gets another.
        entry.rounds_done = all_made || shares ? round : request.rounds;
        entry.stopped = all_made || (shares && round < request.rounds) ? "" : run->search.stopped;
      }
      observer.task_finished(round, i, entry);
      KERF_TRY_VOID(write_campaign(result, request));
    }
  KERF_TRY_VOID(recheck_at_the_end(request, resources, observer, interrupted, result));
  return result;
}

}  // namespace kerf
