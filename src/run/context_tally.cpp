#include "run/context_tally.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "memory/lessons.hpp"
#include "propose/agents/gains.hpp"
#include "run/run_config.hpp"

namespace kerf {
namespace {

std::string kind_of(const std::string& id) { return id.substr(0, id.find(':')); }

/// What the run says of experiences, by id: those that it tried first, and those that it could show.
std::map<std::string, std::string> tasks_of_experiences(const RunView& run) {
  std::map<std::string, std::string> tasks;
  const auto remembered = nlohmann::json::parse(run.fact("remembered"), nullptr, false);
  if (remembered.is_object() && remembered.contains("items") && remembered["items"].is_array())
    for (const auto& item : remembered["items"])
      if (item.is_object() && item.value("id", nlohmann::json()).is_string() && item.contains("task") &&
          item["task"].is_string())
        tasks[item["id"].get<std::string>()] = item["task"].get<std::string>();
  const auto shown = nlohmann::json::parse(run.fact("experiences"), nullptr, false);
  if (shown.is_object())
    for (const auto& [id, task] : shown.items())
      if (task.is_string()) tasks[id] = task.get<std::string>();
  return tasks;
}

}  // namespace

std::vector<MindTally> tally_minds(const RunView& run) {
  std::set<std::int64_t> best;
  for (const TurningPoint& point : turning_points(run)) best.insert(point.step);
  std::map<std::string, MindTally> minds;
  for (const Step& step : run.steps) {
    if (is_trial(step) || is_confirmation(step)) continue;
    MindTally& one = minds[step.proposer];
    one.mind = step.proposer;
    ++one.kernels;
    one.passed += measurement_of(step) != nullptr ? 1 : 0;
    one.best += best.contains(step.number) ? 1 : 0;
    one.tokens += step.provenance.prompt_tokens + step.provenance.reply_tokens;
    one.cost_usd += step.provenance.cost_usd;
  }
  std::vector<MindTally> all;
  for (auto& [name, one] : minds) all.push_back(std::move(one));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.kernels > b.kernels; });
  return all;
}

std::vector<ContextTally> tally_context(const RunView& run) {
  const auto config = config_from_toml(run.fact("config"));
  const memory::Rule rule = config ? config->memory_rule : memory::Rule::kerf;
  const auto tasks = tasks_of_experiences(run);
  memory::StepRewards rewards(rule);
  std::map<memory::ValueStage, memory::Moments> usual;
  std::map<std::string, ContextTally> items;
  std::map<std::string, memory::StageValue> values;
  for (const Step& step : run.steps) {
    const auto reward = rewards.observe(step);
    if (!reward) continue;
    memory::Moments& seen = usual[reward->stage];
    const double more = reward->value - (rule == memory::Rule::published ? 0 : seen.mean);
    for (const std::string& id : step.provenance.context) {
      ContextTally& item = items[id];
      item.id = id;
      item.kind = kind_of(id);
      if (const auto found = tasks.find(id.substr(std::min(id.size(), item.kind.size() + 1))); found != tasks.end())
        item.about = found->second;
      ++item.uses;
      item.passed += measurement_of(step) != nullptr ? 1 : 0;
      memory::learn(values[id], "", more, rule);
      item.moves.emplace_back(step.number, values[id].all.mean);
    }
    seen.add(reward->value);
  }
  std::vector<ContextTally> all;
  for (auto& [id, item] : items) all.push_back(std::move(item));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.uses > b.uses; });
  return all;
}

std::vector<KnowledgeArm> knowledge_arms(const RunView& run) {
  std::set<std::string> kinds;
  for (const Step& step : run.steps)
    if (memory::was_written(step))
      for (const std::string& id : step.provenance.context) kinds.insert(kind_of(id));
  std::map<std::pair<std::string, bool>, KnowledgeArm> arms;
  agents::Gains gains;
  for (const Step& step : run.steps) {
    const auto gain = gains.observe(step);
    if (!gain || !memory::was_written(step)) continue;
    for (const std::string& kind : kinds) {
      const auto& context = step.provenance.context;
      const bool with =
          std::any_of(context.begin(), context.end(), [&](const std::string& id) { return kind_of(id) == kind; });
      KnowledgeArm& arm = arms[{kind, !with}];
      arm.kind = kind;
      arm.with = with;
      ++arm.answers;
      arm.passed += measurement_of(step) != nullptr ? 1 : 0;
      arm.mean_gain += (*gain - arm.mean_gain) / static_cast<double>(arm.answers);
    }
  }
  std::vector<KnowledgeArm> all;
  for (auto& [key, arm] : arms) all.push_back(std::move(arm));
  return all;
}

}  // namespace kerf
