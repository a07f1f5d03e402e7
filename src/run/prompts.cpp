#include "run/prompts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "propose/agents/gains.hpp"
#include "propose/agents/prompt_evolution.hpp"
#include "run/kept_prompts.hpp"
#include "run/mind_config.hpp"

namespace kerf {

Status restore_prompts(const RunStore& run, agents::PromptPopulation& prompts) {
  KERF_TRY(const std::vector<Step> steps, run.steps());
  for (const Step& step : steps) {
    if (step.proposer != kLlmMind) continue;
    KERF_TRY(const std::vector<Exchange> exchanges, run.exchanges(step.number));
    for (const Exchange& exchange : exchanges) {
      if (exchange.result.empty()) continue;
      auto sections = agents::parse_sections(exchange.result);
      if (sections) prompts.restore(agents::prompt_variant(exchange.prompt), *std::move(sections));
    }
  }
  return {};
}

Result<agents::PromptPopulation> prompts_of(const RunStore& run, FiguresOf figures) {
  KERF_TRY(const auto config, run.get("config"));
  KERF_TRY(const MindConfig minds, minds_from_toml(config.value_or("")));
  KERF_TRY(const std::vector<Step> steps, run.steps());
  if (!minds.has(kLlmMind) && std::ranges::none_of(steps, [](const Step& step) { return step.proposer == kLlmMind; }))
    return fail(Errc::invalid_input,
                fmt::format("{} asked no language model, so it has no prompts", run.folder().string()));
  agents::PopulationOptions options;
  options.rule = minds.prompt_rule;
  agents::PromptPopulation prompts(agents::seed_sections(), options);
  KERF_TRY(const auto begun, run.get(kPromptsFact));
  if (begun) {
    KERF_TRY(auto variants, variants_from_json(*begun));
    for (agents::PromptVariant& one : variants) {
      if (figures == FiguresOf::this_run) one.mean = one.square = one.best = one.uses = one.asked = 0;
      prompts.inherit(std::move(one));
    }
  }
  KERF_TRY_VOID(restore_prompts(run, prompts));
  agents::Gains gains;
  for (const Step& step : steps)
    if (const auto gain = gains.observe(step); gain && step.proposer == kLlmMind)
      prompts.observe(agents::prompt_variant(step.provenance.prompt), agents::prompt_stage(step.provenance.prompt),
                      *gain);
  return prompts;
}

std::vector<PromptTally> tally_prompts(const std::vector<Step>& steps) {
  std::vector<PromptTally> all;
  agents::Gains gains;
  for (const Step& step : steps) {
    const auto gain = gains.observe(step);
    const std::string variant = agents::prompt_variant(step.provenance.prompt);
    if (!gain || variant.empty()) continue;
    auto found = std::find_if(all.begin(), all.end(), [&](const PromptTally& one) { return one.variant == variant; });
    if (found == all.end()) {
      all.push_back({variant, step.number});
      found = std::prev(all.end());
    }
    found->last_step = step.number;
    found->answers += 1;
    found->passed += std::holds_alternative<Measurement>(step.evaluation.outcome) ? 1 : 0;
    found->mean_gain += (*gain - found->mean_gain) / static_cast<double>(found->answers);
    found->best_gain = std::max(found->best_gain, *gain);
    found->moves.emplace_back(step.number, found->mean_gain);
  }
  return all;
}

Result<const agents::PromptVariant*> find_prompt(const agents::PromptPopulation& prompts, const std::string& text) {
  if (text == "seed") return &prompts.seed();
  const agents::PromptVariant* found = nullptr;
  std::vector<std::string> ids;
  for (const agents::PromptVariant& one : prompts.variants()) {
    ids.push_back(one.id);
    if (!one.id.starts_with(text) || text.size() < 2) continue;
    if (found != nullptr) return fail(Errc::invalid_input, fmt::format("several prompts begin with '{}'", text));
    found = &one;
  }
  if (found != nullptr) return found;
  return fail(Errc::not_found, fmt::format("there is no prompt '{}'; choose one of: seed, {}", text, join(ids, ", ")));
}

}  // namespace kerf
