#include "run/run_skills.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "memory/operators.hpp"
#include "propose/agents/gains.hpp"
#include "run/given_kernels.hpp"
#include "run/remembering.hpp"
#include "skill/search.hpp"
#include "skill/skill_file.hpp"

namespace kerf {
namespace {

using agents::SkillOffer;
using skill::Skill;

constexpr std::array<std::pair<SkillRule, std::string_view>, 3> kRules{
    {{SkillRule::verified, "verified"}, {SkillRule::all, "all"}, {SkillRule::off, "off"}}};
constexpr double kLeastRatio = 1.2;             // of a line that is worth writing down
constexpr std::size_t kMostHintOperators = 64;  // as skill files have them

/// Operators of the task, for hints that name none.
std::vector<std::string> operators_of_task(const Task& task) {
  std::vector<std::string> words;
  if (!task.graph) return words;
  for (const ir::Node& node : task.graph->nodes) {
    const std::string word = memory::operator_word(node);
    if (word != "input" && word != "constant") words.push_back(word);
  }
  std::sort(words.begin(), words.end());
  return words;
}

memory::Recipe recipe_from(const Skill& skill, const Task& task) {
  memory::Recipe recipe;
  for (const skill::Hint& hint : skill.hints)
    recipe.genes.push_back({hint.operators.empty() ? operators_of_task(task) : hint.operators, hint.family,
                            hint.variant, hint.parameters});
  return recipe;
}

std::optional<double> log_speed(const Step& step) {
  const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
  if (measured == nullptr || !(measured->speedup.ratio > 0)) return {};
  return std::log(measured->speedup.ratio);
}

std::vector<std::string> skills_of(const Step& step) {
  std::vector<std::string> ids;
  for (const std::string& item : step.provenance.context)
    if (item.starts_with(agents::kSkillPrefix)) ids.push_back(item.substr(agents::kSkillPrefix.size()));
  return ids;
}

/// Of hints: against the best of the first guesses that no skill asked for.
void uses_of_hints(const std::vector<Step>& steps, const std::string& run, std::vector<SkillUse>& uses) {
  std::optional<double> best;
  for (const Step& step : steps) {
    if (step.stage != Stage::start || step.proposer == kSkillMind) continue;
    if (const auto speed = log_speed(step)) best = std::max(best.value_or(*speed), *speed);
  }
  if (!best) return;
  for (const Step& step : steps)
    if (step.proposer == kSkillMind && step.stage == Stage::start && !is_duplicate(step))
      for (const std::string& id : skills_of(step))
        uses.push_back({run, step.number, id, log_speed(step).value_or(0) - *best});
}

/// Of models and programs: against the mean of what the same mind wrote without a skill, drafts and refinements apart.
void uses_of_models(const std::vector<Step>& steps, const std::string& run, std::vector<SkillUse>& uses) {
  struct Level {
    double sum = 0;
    int count = 0;
  };
  agents::Gains gains;
  std::map<std::pair<std::string, bool>, Level> without;  // by mind and "has no parents"
  const auto level_of = [&](const Step& step) -> Level& { return without[{step.proposer, step.parents.empty()}]; };
  std::map<std::int64_t, double> gain_of;
  for (const Step& step : steps) {
    const auto gain = gains.observe(step);
    if (!gain || step.proposer == kSkillMind || step.provenance.model.empty()) continue;
    gain_of[step.number] = *gain;
    if (!skills_of(step).empty()) continue;
    level_of(step).sum += *gain;
    ++level_of(step).count;
  }
  for (const Step& step : steps) {
    const auto gain = gain_of.find(step.number);
    const Level& level = level_of(step);
    if (gain == gain_of.end() || level.count == 0) continue;
    for (const std::string& id : skills_of(step))
      uses.push_back({run, step.number, id, gain->second - level.sum / level.count});
  }
}

/// The measured step that the line of `number` began with.
const Step* first_of_line(const std::vector<Step>& steps, std::int64_t number) {
  const Step* first = nullptr;
  std::set<std::int64_t> seen;
  while (number >= 1 && static_cast<std::size_t>(number) <= steps.size() && seen.insert(number).second) {
    const Step& step = steps[static_cast<std::size_t>(number) - 1];
    if (log_speed(step) && !step.genome.empty()) first = &step;
    if (step.parents.empty()) break;
    number = step.parents.front();
  }
  return first;
}

std::string gene_words(const memory::RecipeGene& gene) {
  memory::Recipe one;
  one.genes = {gene};
  return memory::recipe_words(one);
}

skill::Hint hint_of(const memory::RecipeGene& gene) {
  std::vector<std::string> operators = gene.operators;
  if (operators.size() > kMostHintOperators)
    operators.erase(std::unique(operators.begin(), operators.end()), operators.end());
  if (operators.size() > kMostHintOperators) operators.resize(kMostHintOperators);
  return {std::move(operators), gene.family, gene.variant, gene.parameters};
}

/// By words; with an embedding model half by words and half by meaning, so that none needs a word in common.
std::vector<skill::Found> nearest(const std::vector<Skill>& skills, const std::string& query, TextLikeness* likeness) {
  std::vector<skill::Found> by_words = skill::find_skills(skills, query, skills.size());
  std::vector<std::string> texts;
  for (const Skill& one : skills) texts.push_back(skill::searched_text(one));
  const std::vector<double> alike = likeness == nullptr ? std::vector<double>{} : likeness->to(query, texts);
  if (!alike.empty()) {
    const double most = by_words.empty() ? 1 : by_words.front().score;
    std::map<const Skill*, double> scores;
    for (const skill::Found& one : by_words) scores[one.skill] = one.score / most;
    by_words.clear();
    for (std::size_t i = 0; i < skills.size(); ++i)
      by_words.push_back({&skills[i], (scores[&skills[i]] + std::max(0.0, alike[i])) / 2});
    std::stable_sort(by_words.begin(), by_words.end(),
                     [](const skill::Found& a, const skill::Found& b) { return a.score > b.score; });
  }
  if (by_words.size() > kSkillShortlist) by_words.resize(kSkillShortlist);
  return by_words;
}

}  // namespace

std::string_view skill_rule_name(SkillRule rule) {
  for (const auto& [one, name] : kRules)
    if (one == rule) return name;
  return "";
}

Result<SkillRule> skill_rule_from_name(std::string_view name) {
  for (const auto& [one, known] : kRules)
    if (known == name) return one;
  return fail(Errc::invalid_input,
              fmt::format("unknown rule for skills '{}'; choose one of: verified, all, off", name));
}

std::string family_of(const Task& task) { return task.graph ? memory::operator_family(*task.graph) : ""; }

std::vector<Skill> shortlist(const std::vector<Skill>& skills, SkillRule rule, const TaskText& task,
                             const std::string& target, TextLikeness* likeness) {
  std::vector<Skill> allowed;
  const std::string family = family_of(task.task);
  for (const Skill& one : skills) {
    const bool may =
        one.state == skill::State::verified || (rule == SkillRule::all && one.state == skill::State::candidate);
    if (rule != SkillRule::off && may && applies(one, target, family)) allowed.push_back(one);
  }
  const std::string query =
      fmt::format("{}\n{}\n{}\n{}", task.task.name, task.source, family, join(operators_of_task(task.task), " "));
  std::vector<Skill> list;
  std::set<std::string> names;
  for (const skill::Found& found : nearest(allowed, query, likeness))
    if (names.insert(found.skill->name).second) list.push_back(*found.skill);
  return list;
}

std::string to_json(const SkillOffer& offer) {
  nlohmann::json json{{"always", offer.always}, {"placebo", offer.placebo}, {"skills", nlohmann::json::array()}};
  for (const Skill& one : offer.skills) json["skills"].push_back(skill::to_json(one));
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<SkillOffer> offer_from_json(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("skills") || !json["skills"].is_array())
    return fail(Errc::invalid_input, "the run's skills cannot be read");
  SkillOffer offer;
  offer.always = json.value("always", nlohmann::json(false)) == true;
  offer.placebo = json.value("placebo", nlohmann::json(false)) == true;
  for (const auto& item : json["skills"]) {
    if (!item.is_string()) return fail(Errc::invalid_input, "the run's skills cannot be read");
    KERF_TRY(Skill one, skill::skill_from_json(item.get_ref<const std::string&>()));
    offer.skills.push_back(std::move(one));
  }
  return offer;
}

std::vector<Proposal> skill_kernels(const SkillOffer& offer, const Task& task, const synth::Synthesiser& synthesiser,
                                    std::uint64_t seed, std::size_t most) {
  std::vector<Skill> ordered;
  for (const Skill& one : offer.skills)
    if (!one.hints.empty() && (offer.always || posterior_effect(one) >= 0)) ordered.push_back(one);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Skill& a, const Skill& b) { return posterior_effect(a) > posterior_effect(b); });
  if (ordered.size() > agents::kMostShownSkills) ordered.resize(agents::kMostShownSkills);
  std::vector<Proposal> kernels;
  std::set<std::string> sources;
  Rng rng = Rng(seed).fork("placebo");
  for (const Skill& one : ordered) {
    if (kernels.size() >= most) break;
    auto genome = synthesiser.adapted(recipe_from(one, task));
    if (!genome) continue;
    if (offer.placebo) genome = synthesiser.random(rng);
    auto candidate = synthesiser.render(*genome);
    if (!candidate || !sources.insert(candidate->source).second) continue;
    Proposal kernel{candidate->name,
                    std::move(candidate->source),
                    synth::to_json(*genome),
                    {},
                    fmt::format("{} '{}': {}", offer.placebo ? "placebo of the skill" : "asked for by the skill",
                                one.name, synthesiser.describe(*genome))};
    if (!offer.placebo) kernel.provenance.context = {std::string(agents::kSkillPrefix) + one.id};
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::unique_ptr<Proposer> make_skill_mind(std::vector<Proposal> kernels) {
  return make_given_kernels(kSkillMind, std::move(kernels));
}

std::vector<SkillUse> skill_uses(const std::vector<Step>& steps, const std::string& run) {
  std::vector<SkillUse> uses;
  uses_of_hints(steps, run, uses);
  uses_of_models(steps, run, uses);
  return uses;
}

std::optional<Skill> skill_from_lineage(const std::vector<Step>& steps, const TaskText& task, const std::string& target,
                                        const synth::Synthesiser& synthesiser) {
  const Step* best = nullptr;
  for (const Step& step : steps)
    if (!step.genome.empty() && !is_trial(step) && !is_confirmation(step) && log_speed(step) &&
        (best == nullptr || *log_speed(step) > *log_speed(*best)))
      best = &step;
  if (best == nullptr) return {};
  const Step* first = first_of_line(steps, best->number);
  const double least = std::log(kLeastRatio);
  if (first == nullptr || first == best || *log_speed(*best) < least || *log_speed(*best) - *log_speed(*first) < least)
    return {};
  const auto after = synth::genome_with(best->genome, best->tunables);
  const auto before = synth::genome_with(first->genome, first->tunables);
  const auto now = after ? synthesiser.recipe(*after) : std::nullopt;
  const auto then = before ? synthesiser.recipe(*before) : std::nullopt;
  if (!now || !then) return {};
  Skill one;
  std::vector<std::string> changed, old;
  for (const memory::RecipeGene& gene : now->genes)
    if (std::find(then->genes.begin(), then->genes.end(), gene) == then->genes.end() && one.hints.size() < 8) {
      one.hints.push_back(hint_of(gene));
      changed.push_back(gene_words(gene));
    }
  for (const memory::RecipeGene& gene : then->genes) old.push_back(gene_words(gene));
  if (one.hints.empty()) return {};
  const std::string family = family_of(task.task);
  one.name = fmt::format("{}-{}-for-{}", one.hints[0].family, one.hints[0].variant, family);
  std::replace(one.name.begin(), one.name.end(), '_', '-');
  one.description = fmt::format("{} tasks on {}: {}", family, target, join(changed, " + ")).substr(0, 380);
  one.scope = {{target}, {family}};
  one.tags = {family, one.hints[0].family};
  one.motivation = fmt::format("{:.2f} times as fast as {} on {}.", std::exp(*log_speed(*best) - *log_speed(*first)),
                               join(old, " + ").substr(0, 600), task.task.name);
  one.key_idea = fmt::format("Compute it as {}.", join(changed, " + ").substr(0, 2000));
  auto checked = skill::skill_from_toml(skill::to_toml(one), "lineage");  // the limits of any skill
  return checked ? std::optional(*std::move(checked)) : std::nullopt;
}

Result<SkillLessons> learn_skills(SkillStore& store, const RunStore& run, const TaskText& task,
                                  const std::string& target, const synth::Synthesiser* synthesiser,
                                  std::int64_t wall_ms) {
  KERF_TRY(auto recorded, run.steps());
  const std::vector<Step> steps = with_refusals(std::move(recorded));
  KERF_TRY(const std::string id, run_id(run));
  SkillLessons lessons;
  KERF_TRY(lessons.retired, skill::learn_uses(store, skill_uses(steps, id)));
  std::vector<Skill> found;
  for (const Step& step : steps) {
    if (step.provenance.model.empty()) continue;
    KERF_TRY(const auto exchanges, run.exchanges(step.number));
    for (const Exchange& exchange : exchanges) {
      if (exchange.role != "summarise" || exchange.result.empty()) continue;
      if (auto one = skill::skill_from_toml(exchange.result, "a model's answer")) found.push_back(*std::move(one));
    }
  }
  if (synthesiser != nullptr)
    if (auto one = skill_from_lineage(steps, task, target, *synthesiser)) found.push_back(*std::move(one));
  for (Skill& one : found) {
    one.origin = fmt::format("run {} on {}", id, task.task.name).substr(0, 190);
    one.recorded_ms = wall_ms;
    const std::string name = one.name;
    KERF_TRY(const skill::Added added, skill::add_skill(store, std::move(one)));
    if (!added.known && added.merged_with.empty()) lessons.added.push_back(name);
  }
  return lessons;
}

}  // namespace kerf
