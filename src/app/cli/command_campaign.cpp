#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/cli/commands.hpp"
#include "app/cli/interrupt_guard.hpp"
#include "app/cli/memory_commands.hpp"
#include "app/cli/memory_option.hpp"
#include "app/cli/model_task.hpp"
#include "app/cli/output_path.hpp"
#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "app/cli/samples.hpp"
#include "app/cli/search_view.hpp"
#include "base/clock.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "run/campaign.hpp"
#include "run/settings.hpp"

namespace kerf::cli {
namespace {

using CampaignJson = nlohmann::ordered_json;

std::string entry_words(const CampaignEntry& entry) {
  if (!entry.error.empty()) return "failed: " + one_line(entry.error);
  if (entry.plain) return "the plain kernel";
  if (entry.evaluations == 0) return "not tried";
  return entry.best ? speedup_words(*entry.best) : "no kernel passed every gate";
}

std::string rechecked_words(const RecheckedSkill& skill) {
  return fmt::format("skill {} {}: {:.2f}x ({:.2f} to {:.2f}) of what came without it, {} pairs; {}\n", skill.name,
                     skill.first   ? (skill.holds ? "is admitted" : "is refused")
                     : skill.holds ? "holds"
                                   : "is retired",
                     std::exp(skill.effect), std::exp(skill.low), std::exp(skill.high), skill.pairs,
                     one_line(skill.reason));
}

/// What became of the skills that were due; "" where there are none.
std::string recheck_text(const CampaignResult& result, const Style& style) {
  if (!result.recheck || (result.recheck->note.empty() && result.recheck->skills.empty())) return "";
  const Recheck& recheck = *result.recheck;
  const auto first = std::ranges::count_if(recheck.skills, &RecheckedSkill::first);
  std::string text = fmt::format("\nskills: {} of {} verified tried again, {} of {}, {} of {} evaluations\n",
                                 static_cast<std::ptrdiff_t>(recheck.skills.size()) - first, recheck.verified, first,
                                 counted(recheck.candidates, "candidate"), recheck.evaluations, recheck.budget);
  for (const RecheckedSkill& one : recheck.skills) text += fitted("  " + rechecked_words(one), style);
  if (!recheck.note.empty()) text += fitted(fmt::format("  {}\n", one_line(recheck.note)), style);
  return text;
}

/// A heading and a line per task; on a terminal the search itself is shown in between.
class CampaignView final : public CampaignObserver {
 public:
  CampaignView(Console& console, bool silent, bool live, std::size_t tasks, int rounds)
      : console_(console), silent_(silent), live_(live), tasks_(tasks), rounds_(rounds) {}

  void task_started(int round, std::size_t number, const CampaignEntry& entry) override {
    if (!silent_)
      console_.err << fmt::format("round {} of {}, task {} of {}: {}\n", round, rounds_, number + 1, tasks_,
                                  one_line(entry.task))
                   << std::flush;
    if (!silent_ && live_) view_.emplace(console_, Screen{true, terminal_columns});
  }
  RunObserver& run_observer() override { return view_ ? static_cast<RunObserver&>(*view_) : none_; }
  void task_finished(int, std::size_t, const CampaignEntry& entry) override {
    view_.reset();
    if (!silent_)
      console_.err << fmt::format("  {} ({}, {:.0f} s){}\n", entry_words(entry),
                                  counted(entry.evaluations, "evaluation"), entry.seconds,
                                  entry.stopped.empty() ? "" : "; ended early: " + one_line(entry.stopped))
                   << std::flush;
  }
  void skill_rechecked(const RecheckedSkill& skill) override {
    if (!silent_) console_.err << rechecked_words(skill) << std::flush;
  }

 private:
  Console& console_;
  bool silent_, live_;
  std::size_t tasks_;
  int rounds_;
  std::optional<SearchView> view_;
  NullRunObserver none_;
};

CampaignJson campaign_json(const CampaignResult& result) {
  CampaignJson json{{"schema", 1},
                    {"campaign", result.folder.string()},
                    {"seed", result.seed},
                    {"interrupted", result.interrupted},
                    {"tasks", CampaignJson::array()}};
  for (const CampaignEntry& entry : result.entries) json["tasks"].push_back(CampaignJson::parse(to_json(entry)));
  json["skills"] = result.recheck ? CampaignJson::parse(to_json(*result.recheck)) : CampaignJson();
  return json;
}

std::string campaign_table(const CampaignResult& result, const Style& style) {
  std::vector<std::vector<Cell>> rows{
      {{"task"}, folding("best"), {"kernel"}, {"evals", {}, true}, {"from memory", {}, false, true}}};
  for (const CampaignEntry& entry : result.entries)
    rows.push_back({{one_line(entry.task), Colour::bold},
                    {fit(entry_words(entry), 60), !entry.error.empty()                 ? Colour::red
                                                  : entry.standing == Standing::faster ? Colour::green
                                                                                       : Colour::yellow},
                    {fit(one_line(entry.kernel), 40)},
                    {std::to_string(entry.evaluations), Colour::none, true},
                    {fmt::format("{} tried{}", entry.remembered, entry.best_is_remembered ? ", the best" : "")}});
  return table(rows, style);
}

/// What a table has no room for: why tasks ended early, and what can be done next.
std::string campaign_end(const CampaignResult& result, const std::string& kerf, const Style& style) {
  std::string text;
  const CampaignEntry *best = nullptr, *ran = nullptr;
  bool missing = result.interrupted;
  for (const CampaignEntry& entry : result.entries) {
    missing = missing || !entry.error.empty();
    if (!entry.error.empty())
      text += fitted(fmt::format("{} failed: {}\n", one_line(entry.task), one_line(entry.error)), style);
    if (!entry.stopped.empty())
      text += fitted(fmt::format("{} ended early, after {}: {}\n", one_line(entry.task),
                                 counted(entry.evaluations, "evaluation"), one_line(entry.stopped)),
                     style);
    if (entry.best && (best == nullptr || entry.best->low > best->best->low)) best = &entry;
    if (ran == nullptr && entry.error.empty() && entry.evaluations > 0) ran = &entry;
  }
  std::int64_t tokens = 0;
  double cost_usd = 0;
  for (const CampaignEntry& entry : result.entries) {
    tokens += entry.tokens;
    cost_usd += entry.cost_usd;
  }
  if (tokens > 0)
    text += fmt::format("\nmodels: {} tokens{}\n", tokens, cost_usd > 0 ? fmt::format(", {:.4f} USD", cost_usd) : "");
  text += fmt::format("\nruns    {} runs {}\n", kerf, result.folder.string());
  if (best != nullptr)
    text += fmt::format("next    {0} show {1}\n        {0} report {1}\n        {0} export {1}\n", kerf,
                        best->folder.string());
  else if (ran != nullptr)  // nothing to take along, but a search says why
    text += fmt::format("next    {0} show {1}\n        {0} report {1}\n", kerf, ran->folder.string());
  if (missing)
    text += fmt::format("go on   the same command with --out {} {}\n", result.folder.string(),
                        result.interrupted ? "goes on with what is missing" : "tries what failed again");
  return text;
}

Result<CampaignRequest> campaign_request(const CampaignOptions& options, const Environment& environment) {
  CampaignRequest request;
  if (!options.target.empty()) request.config.target = options.target;
  KERF_TRY_VOID(check_target_name(request.config.target));
  KERF_TRY(const auto models, ModelReader::make(options.tasks, environment));
  for (const std::string& path : options.tasks) {
    if (pytorch::is_model_file(path)) {
      KERF_TRY(ModelTask model, models->read(path, request.config.target));
      request.tasks.push_back(std::move(model.text));
      continue;
    }
    KERF_TRY(TaskText task, read_checked_task(path, environment));
    request.tasks.push_back(std::move(task));
  }
  request.config.device = options.device;
  request.config.search.seed = options.seed ? *options.seed : fresh_seed();
  request.own_seed = options.seed.has_value();
  if (options.evaluations) request.config.search.evaluations = *options.evaluations;
  if (options.seconds) request.config.search.seconds = *options.seconds;
  if (options.seconds && !options.evaluations) request.config.search.evaluations = 0;  // time alone limits it
  KERF_TRY_VOID(overlay_minds(options.minds, request.config.minds));
  if (!options.minds.record_chats.empty()) request.config.record_chats = chats_file(options.minds);
  if (!options.memory_rule.empty()) {
    KERF_TRY(request.config.memory_rule, memory::rule_from_name(options.memory_rule));
  }
  if (!options.skills.empty()) {
    KERF_TRY(request.config.skill_rule, skill_rule_from_name(options.skills));
  }
  KERF_TRY(const Settings settings, parse_settings(options.set));
  if (!settings.tunables.empty())
    return fail(Errc::invalid_input,
                fmt::format("--set {}: a search chooses tunables itself; settings have a dot: search.patience=100",
                            settings.tunables.begin()->first));
  KERF_TRY_VOID(apply_settings(settings, request.config.judge, &request.config.search));
  KERF_TRY_VOID(overlay_embedding(options.embedding, request.config.embedding));
  request.config.memory = kept_memory(options.memory);
  request.rounds = options.rounds;
  request.folder = options.out.empty()
                       ? new_run_folder(kRunsFolder, "campaign", request.config.target, SystemClock().wall_ms())
                       : std::filesystem::path(options.out);
  return request;
}

}  // namespace

Status campaign(const CampaignOptions& options, const Environment& environment, Console& console) {
  KERF_TRY(CampaignRequest request, campaign_request(options, environment));
  KERF_TRY_VOID(check_output_folder(request.folder));
  KERF_TRY(const auto memory, open_memory(options.memory, environment, console));
  request.memory = memory.get();
  KERF_TRY(const auto skills, open_skills(options.memory, environment));
  request.skills = skills.get();
  KERF_TRY(const auto prompts, open_prompts(options.memory, environment));
  request.prompts = prompts.get();
  KERF_TRY(request.access, mind_access(options.minds, request.config.minds, environment));
  if (request.access.replay_chats.empty()) request.access.record_chats = request.config.record_chats;
  if (options.recheck.value_or(0) > 0 && request.config.minds.has_agent())
    return fail(
        Errc::invalid_input,
        "--recheck tries skills with the builtin mind alone; with models or programs 'kerf skills verify' does");
  if (options.recheck) request.recheck = *options.recheck;
  KERF_TRY(const auto embeddings,
           open_embeddings(request.config.embedding, options.minds.key_file, options.memory, environment, console));
  if (embeddings) request.likeness = embeddings->likeness.get();
  KERF_TRY(request.samples, expression_samples());
  const auto sandbox = make_sandbox();
  const TargetResources resources = make_context(environment, *sandbox, options.jobs);
  const InterruptGuard guard;
  CampaignView view(console, options.json, environment.err_is_terminal, request.tasks.size(), request.rounds);
  KERF_TRY(const CampaignResult result, run_campaign(request, resources, view, interrupted()));
  if (options.json)
    console.out << campaign_json(result).dump(-1, ' ', false, CampaignJson::error_handler_t::replace) << std::endl;
  else
    console.out << campaign_table(result, console.out_style) << recheck_text(result, console.out_style)
                << campaign_end(result, environment.called, console.out_style) << std::flush;
  std::vector<std::string> failed;
  for (const CampaignEntry& entry : result.entries)
    if (!entry.error.empty()) failed.push_back(one_line(entry.task));
  if (failed.empty()) return {};
  return fail(Errc::tool_failed,
              fmt::format("{} of {} failed: {}; the others are not touched by that", failed.size(),
                          counted(static_cast<std::int64_t>(result.entries.size()), "task"), join(failed, ", ")));
}

}  // namespace kerf::cli
