#include "run/skill_recheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "base/text.hpp"
#include "run/skill_tally.hpp"

namespace kerf {
namespace {

using skill::Evidence;
using skill::Skill;
using Json = nlohmann::ordered_json;

/// Evaluations of one sample of every arm and task.
constexpr int kRepeatCost = 3 * (kRecheckTasks + 1) * kRecheckEvaluations;

SkillTrial trial_for(const Skill& skill, const RunConfig& config, TrialTasks tasks, int repeats,
                     const std::filesystem::path& folder) {
  SkillTrial trial;
  trial.skill = skill;
  trial.tasks = std::move(tasks.tasks);
  trial.unrelated = std::move(tasks.unrelated);
  trial.config = config;
  trial.config.search.evaluations = kRecheckEvaluations;
  trial.config.search.seconds = 0;
  trial.config.search.seed = Rng(config.search.seed).fork("recheck " + skill.id).bits();
  trial.gate.most = repeats;
  trial.gate.first = std::min(trial.gate.first, repeats);
  trial.folder = folder / skill.id;
  return trial;
}

RecheckedSkill rechecked(const Skill& after, const Evidence& trial) {
  RecheckedSkill one{after.id, after.name, after.state == skill::State::verified, trial.reason};
  one.pairs = trial.samples;
  one.effect = trial.effect;
  one.low = trial.low;
  one.high = trial.high;
  one.evaluations = trial.samples / kRecheckTasks * kRepeatCost;
  return one;
}

}  // namespace

std::string to_json(const Recheck& recheck) {
  Json json{{"budget", recheck.budget},
            {"evaluations", recheck.evaluations},
            {"verified", recheck.verified},
            {"note", recheck.note},
            {"skills", Json::array()}};
  for (const RecheckedSkill& one : recheck.skills)
    json["skills"].push_back({{"id", one.id},
                              {"name", one.name},
                              {"holds", one.holds},
                              {"reason", one.reason},
                              {"pairs", one.pairs},
                              {"effect", one.effect},
                              {"low", one.low},
                              {"high", one.high},
                              {"evaluations", one.evaluations}});
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Recheck> recheck_from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  Recheck recheck;
  try {
    recheck.budget = json.at("budget").get<int>();
    recheck.evaluations = json.at("evaluations").get<int>();
    recheck.verified = json.at("verified").get<int>();
    recheck.note = json.at("note").get<std::string>();
    for (const Json& item : json.at("skills")) {
      RecheckedSkill one{item.at("id").get<std::string>(), item.at("name").get<std::string>(),
                         item.at("holds").get<bool>(), item.at("reason").get<std::string>()};
      one.pairs = item.at("pairs").get<int>();
      one.effect = item.at("effect").get<double>();
      one.low = item.at("low").get<double>();
      one.high = item.at("high").get<double>();
      one.evaluations = item.at("evaluations").get<int>();
      recheck.skills.push_back(std::move(one));
    }
  } catch (const nlohmann::json::exception&) {
    return fail(Errc::invalid_input, "what became of the campaign's skills cannot be read");
  }
  return recheck;
}

std::vector<Skill> skills_to_recheck(const std::vector<Skill>& all, const std::string& target,
                                     const MindConfig& minds) {
  const bool builtin_only = minds.names == std::vector<std::string>{kBuiltinMind};
  std::vector<Skill> due;
  for (const Skill& one : all) {
    const Evidence* trial = last_trial(one);
    if (one.state != skill::State::verified || trial == nullptr || trial->target != target) continue;
    const bool builtin = trial->mind == kBuiltinMind && !one.hints.empty();
    if (builtin_only ? builtin : !builtin) due.push_back(one);
  }
  std::stable_sort(due.begin(), due.end(), [](const Skill& a, const Skill& b) {
    return last_trial(a)->recorded_ms < last_trial(b)->recorded_ms;
  });
  return due;
}

Result<Recheck> recheck_skills(SkillStore& store, const RunConfig& config, const std::vector<TaskText>& known,
                               int budget, const std::filesystem::path& folder, const TrySkill& try_one,
                               const OnRechecked& on_rechecked) {
  Recheck recheck;
  recheck.budget = budget;
  if (budget <= 0) return recheck;
  std::vector<std::string> skipped;
  KERF_TRY(const auto all, skill::all_skills(store, skipped));
  const std::vector<Skill> due = skills_to_recheck(all, config.target, config.minds);
  recheck.verified = static_cast<int>(due.size());
  const auto wanted = static_cast<std::size_t>(std::ceil(kRecheckShare * static_cast<double>(due.size())));
  for (const Skill& one : due) {
    if (recheck.skills.size() >= wanted) break;
    const int repeats = std::min((budget - recheck.evaluations) / kRepeatCost, skill::GateOptions{}.most);
    if (repeats < kRecheckLeastRepeats) {
      recheck.note = fmt::format("{} evaluations are left for {}, and a trial takes {} or more",
                                 budget - recheck.evaluations, one.name, kRecheckLeastRepeats * kRepeatCost);
      break;
    }
    auto tasks = choose_trial_tasks(one, config.target, known, kRecheckTasks);
    if (!tasks) {
      recheck.note = tasks.error().message;
      continue;
    }
    auto trial = try_one(trial_for(one, config, *std::move(tasks), repeats, folder));
    if (!trial && trial.error().code == Errc::cancelled) return recheck;
    if (!trial) {
      recheck.note = fmt::format("{} could not be tried: {}", one.name, trial.error().message);
      continue;
    }
    const Skill after = skill::with_recheck(one, *trial);
    KERF_TRY_VOID(store.change({after}, {}));
    recheck.skills.push_back(rechecked(after, after.evidence.back()));
    recheck.evaluations += recheck.skills.back().evaluations;
    if (on_rechecked) on_rechecked(recheck.skills.back());
  }
  return recheck;
}

}  // namespace kerf
