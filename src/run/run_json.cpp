#include "run/run_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "run/context_tally.hpp"
#include "run/skill_tally.hpp"
#include "run/standing.hpp"

namespace kerf {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson finite(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }

/// The ratio of speeds with this natural logarithm.
OrderedJson ratio(double logarithm) { return finite(std::exp(logarithm)); }

std::string text_of(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson trial_json(const skill::Evidence* trial) {
  if (trial == nullptr) return nullptr;
  return {{"samples", trial->samples},
          {"effect", ratio(trial->effect)},
          {"low", ratio(trial->low)},
          {"high", ratio(trial->high)},
          {"over_placebo", ratio(trial->over_placebo)},
          {"placebo_low", ratio(trial->placebo_low)},
          {"placebo_high", ratio(trial->placebo_high)}};
}

}  // namespace

std::string speedup_json(const Speedup& speedup) {
  return text_of({{"vs", speedup.vs},
                  {"ratio", finite(speedup.ratio)},
                  {"low", finite(speedup.low)},
                  {"high", finite(speedup.high)},
                  {"standing", standing_name(standing_of(speedup))}});
}

std::string funnel_json(const RunView& run) {
  OrderedJson stages = OrderedJson::array();
  for (const FunnelStage& stage : funnel_of(run))
    stages.push_back({{"stage", stage.name}, {"count", stage.count}, {"lost", stage.lost}});
  return text_of(stages);
}

std::string models_json(const RunView& run) {
  OrderedJson models = OrderedJson::array();
  for (const ModelTally& one : tally_models(run))
    models.push_back({{"model", one.model},
                      {"answers", one.answers},
                      {"kernels", one.kernels},
                      {"passed", one.passed},
                      {"new_best", one.best},
                      {"tokens", one.tokens},
                      {"cost_usd", finite(one.cost_usd)},
                      {"seconds", finite(one.seconds)}});
  return text_of(models);
}

std::string conversations_json(const RunView& run, std::size_t text_budget) {
  const auto size_of = [](const Exchange& one) {
    std::size_t bytes = one.reply.size() + one.reasoning.size();
    for (const Exchange::Message& message : one.messages) bytes += message.content.size();
    return bytes;
  };
  OrderedJson list = OrderedJson::array();
  for (auto it = run.conversations.rbegin(); it != run.conversations.rend(); ++it) {
    OrderedJson turns = OrderedJson::array();
    for (const Exchange& one : it->second) {
      OrderedJson turn{{"asked_as", one.role},
                       {"model", one.model},
                       {"prompt", one.prompt},
                       {"turn", one.turn},
                       {"outcome", one.outcome},
                       {"prompt_tokens", one.prompt_tokens},
                       {"reply_tokens", one.reply_tokens},
                       {"cost_usd", finite(one.cost_usd)},
                       {"seconds", finite(one.seconds)}};
      if (size_of(one) <= text_budget) {
        text_budget -= size_of(one);
        turn["messages"] = OrderedJson::array();
        for (const Exchange::Message& message : one.messages)
          turn["messages"].push_back({{"role", message.role}, {"content", message.content}});
        turn["reply"] = one.reply;
        turn["reasoning"] = one.reasoning;
      }
      turns.push_back(std::move(turn));
    }
    list.push_back({{"step", it->first}, {"turns", std::move(turns)}});
  }
  std::reverse(list.begin(), list.end());
  return text_of(list);
}

std::string skills_json(const RunView& run) {
  OrderedJson skills = OrderedJson::array();
  for (const SkillTally& one : tally_skills(run))
    skills.push_back({{"id", one.skill.id},
                      {"name", one.skill.name},
                      {"state", skill::state_name(one.skill.state)},
                      {"description", one.skill.description},
                      {"used", one.used},
                      {"passed", one.passed},
                      {"new_best", one.best},
                      {"compared", one.compared},
                      {"gain", ratio(one.gain)},
                      {"trial", trial_json(last_trial(one.skill))}});
  return text_of(skills);
}

std::string arms_json(const RunView& run) {
  OrderedJson arms = OrderedJson::array();
  for (const KnowledgeArm& arm : knowledge_arms(run))
    arms.push_back({{"kind", arm.kind},
                    {"with", arm.with},
                    {"answers", arm.answers},
                    {"passed", arm.passed},
                    {"mean_gain", ratio(arm.mean_gain)}});
  return text_of(arms);
}

std::string known_json(const RunView& run, std::size_t most) {
  OrderedJson items = OrderedJson::array();
  for (const ContextTally& item : tally_context(run)) {
    if (items.size() >= most) break;
    OrderedJson moves = OrderedJson::array();
    for (const auto& [step, value] : item.moves) moves.push_back({step, finite(value)});
    items.push_back({{"id", item.id},
                     {"kind", item.kind},
                     {"about", item.about},
                     {"uses", item.uses},
                     {"passed", item.passed},
                     {"moves", moves}});
  }
  return text_of(items);
}

}  // namespace kerf
