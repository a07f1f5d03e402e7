#include "run/skill_recheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/rng.hpp"
#include "base/text.hpp"
#include "run/settings.hpp"

namespace kerf {
namespace {

using skill::Evidence;
using skill::Skill;
using Json = nlohmann::ordered_json;

/// What every trial here has; the caller says how many samples it takes.
Result<SkillTrial> trial_for(const Skill& skill, const RunConfig& config, TrialTasks tasks,
                             const std::filesystem::path& folder) {
  SkillTrial trial;
  trial.skill = skill;
  trial.tasks = std::move(tasks.tasks);
  trial.unrelated = std::move(tasks.unrelated);
  trial.config = config;
  trial.config.search.evaluations = kRecheckEvaluations;
  trial.config.search.seconds = 0;
  trial.config.search.seed = Rng(config.search.seed).fork("recheck " + skill.id).bits();
  if (const Evidence* before = trusted_trial(skill, config.target)) {
    trial.settings = before->settings;
    KERF_TRY(const Settings settings, parse_settings(before->settings));
    KERF_TRY_VOID(apply_settings(settings, trial.config.judge, &trial.config.search));
  }
  trial.folder = folder / skill.id;
  return trial;
}

RecheckedSkill rechecked(const Skill& after) {
  const Evidence& trial = after.evidence.back();
  RecheckedSkill one;
  one.id = after.id;
  one.name = after.name;
  one.holds = after.state == skill::State::verified;
  one.reason = trial.reason;
  one.pairs = trial.samples;
  one.effect = trial.effect;
  one.low = trial.low;
  one.high = trial.high;
  one.evaluations = trial.samples / kRecheckTasks * kRepeatCost;
  return one;
}

bool builtin_only(const MindConfig& minds) { return minds.names == std::vector<std::string>{kBuiltinMind}; }

/// The trials of one campaign: what each needs, and what became of them.
class Rechecks {
 public:
  Rechecks(SkillStore& store, const RunConfig& config, const std::vector<TaskText>& known,
           const std::filesystem::path& folder, const TrySkill& try_one, const OnRechecked& on_rechecked, int budget)
      : store_(store), config_(config), known_(known), folder_(folder), try_one_(try_one), told_(on_rechecked) {
    recheck_.budget = budget;
  }

  int left() const { return recheck_.budget - recheck_.evaluations; }
  Recheck& result() { return recheck_; }

  /// Whether it is any use to go on; a trial that could not be made leaves a note.
  Result<bool> again(const Skill& one) {
    const int repeats = std::min(left() / kRepeatCost, skill::GateOptions{}.most);
    if (repeats < kRecheckLeastRepeats) {
      note("{} left for {}, and a trial takes {} evaluations or more", counted_left(), one.name,
           kRecheckLeastRepeats * kRepeatCost);
      return false;
    }
    return take(one, repeats, false);
  }

  Result<bool> first(const Skill& one) {
    const int repeats = skill::GateOptions{}.most;
    if (left() < repeats * kRepeatCost) {
      note("{} left, and the first trial of the candidate {} takes up to {}: --recheck {}, or 'kerf skills verify {}'",
           counted_left(), one.name, repeats * kRepeatCost, recheck_.evaluations + repeats * kRepeatCost, one.name);
      return false;
    }
    return take(one, repeats, true);
  }

 private:
  std::string counted_left() const {
    return fmt::format("{} {}", counted(left(), "evaluation"), left() == 1 ? "is" : "are");
  }
  template <typename... Values>
  void note(fmt::format_string<Values...> text, Values&&... values) {
    recheck_.note += (recheck_.note.empty() ? "" : "; ") + fmt::format(text, std::forward<Values>(values)...);
  }

  Result<bool> take(const Skill& one, int repeats, bool first) {
    auto trial = choose_trial_tasks(one, config_.target, known_, kRecheckTasks).and_then([&](TrialTasks tasks) {
      return trial_for(one, config_, std::move(tasks), folder_);
    });
    if (!trial) {
      note("{}", trial.error().message);
      return true;
    }
    trial->gate.most = repeats;
    trial->gate.first = std::min(trial->gate.first, repeats);
    auto evidence = try_one_(*trial);
    if (!evidence && evidence.error().code == Errc::cancelled) return false;
    if (!evidence) {
      note("{} could not be tried: {}", one.name, evidence.error().message);
      return true;
    }
    const Skill after = first ? skill::with_evidence(one, *evidence) : skill::with_recheck(one, *evidence);
    KERF_TRY_VOID(store_.change({after}, {}));
    recheck_.skills.push_back(rechecked(after));
    recheck_.skills.back().first = first;
    recheck_.evaluations += recheck_.skills.back().evaluations;
    if (told_) told_(recheck_.skills.back());
    return true;
  }

  SkillStore& store_;
  const RunConfig& config_;
  const std::vector<TaskText>& known_;
  const std::filesystem::path& folder_;
  const TrySkill& try_one_;
  const OnRechecked& told_;
  Recheck recheck_;
};

}  // namespace

std::string to_json(const Recheck& recheck) {
  Json json{{"budget", recheck.budget},     {"evaluations", recheck.evaluations},
            {"verified", recheck.verified}, {"candidates", recheck.candidates},
            {"note", recheck.note},         {"skills", Json::array()}};
  for (const RecheckedSkill& one : recheck.skills)
    json["skills"].push_back({{"id", one.id},
                              {"name", one.name},
                              {"first", one.first},
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
    recheck.candidates = json.value("candidates", 0);  // older ones have none
    recheck.note = json.at("note").get<std::string>();
    for (const Json& item : json.at("skills")) {
      RecheckedSkill one;
      one.id = item.at("id").get<std::string>();
      one.name = item.at("name").get<std::string>();
      one.first = item.value("first", false);
      one.holds = item.at("holds").get<bool>();
      one.reason = item.at("reason").get<std::string>();
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
  std::vector<Skill> due;
  for (const Skill& one : all) {
    const Evidence* trial = trusted_trial(one, target);
    if (one.state != skill::State::verified || trial == nullptr) continue;
    const bool builtin = trial->mind == kBuiltinMind && !one.hints.empty();
    if (builtin_only(minds) == builtin) due.push_back(one);
  }
  const auto tried_here = [&](const Skill& one) {
    const Evidence* trial = trusted_trial(one, target);
    return trial->imported ? 0 : trial->recorded_ms;
  };
  std::stable_sort(due.begin(), due.end(),
                   [&](const Skill& a, const Skill& b) { return tried_here(a) < tried_here(b); });
  return due;
}

std::vector<Skill> candidates_to_try(const std::vector<Skill>& all, const std::string& target,
                                     const MindConfig& minds) {
  std::vector<Skill> list;
  for (const Skill& one : all) {
    const auto& targets = one.scope.targets;
    const bool here = targets.empty() || std::ranges::find(targets, target) != targets.end();
    if (one.state == skill::State::candidate && here && !(builtin_only(minds) && one.hints.empty()))
      list.push_back(one);
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Skill& a, const Skill& b) { return a.recorded_ms > b.recorded_ms; });
  return list;
}

Result<Recheck> recheck_skills(SkillStore& store, const RunConfig& config, const std::vector<TaskText>& known,
                               int budget, const std::filesystem::path& folder, const TrySkill& try_one,
                               const OnRechecked& on_rechecked) {
  Rechecks trials(store, config, known, folder, try_one, on_rechecked, budget);
  Recheck& recheck = trials.result();
  if (budget <= 0) return recheck;
  std::vector<std::string> skipped;
  KERF_TRY(const auto all, skill::all_skills(store, skipped));
  const std::vector<Skill> due = skills_to_recheck(all, config.target, config.minds);
  const std::vector<Skill> candidates = candidates_to_try(all, config.target, config.minds);
  recheck.verified = static_cast<int>(due.size());
  recheck.candidates = static_cast<int>(candidates.size());
  const auto wanted = static_cast<std::size_t>(std::ceil(kRecheckShare * static_cast<double>(due.size())));
  bool go_on = true;
  for (std::size_t i = 0; i < due.size() && go_on && recheck.skills.size() < wanted; ++i) {
    KERF_TRY(go_on, trials.again(due[i]));
  }
  const auto tried_one = [&] { return !recheck.skills.empty() && recheck.skills.back().first; };
  for (std::size_t i = 0; i < candidates.size() && go_on && !tried_one(); ++i) {
    KERF_TRY(go_on, trials.first(candidates[i]));
  }
  return recheck;
}

}  // namespace kerf
