#include "run/kept_prompts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "propose/agents/prompt_evolution.hpp"
#include "run/prompts.hpp"
#include "run/remembering.hpp"
#include "target/target.hpp"

namespace kerf {
namespace {

using agents::PromptVariant;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBegun = 3;  // proven variants that a run begins with, besides the seed
constexpr int kMostWeight = 8;         // answers that figures of earlier runs count for: a run can overrule them soon
constexpr std::size_t kMostKept = 32;  // variants of a target
constexpr double kLeastSpread = 0.05;  // as in the population
constexpr double kDoubt = 0.5;         // likewise
constexpr const char* kFileKind = "kerf prompts";

/// What a variant is worth for sure.
double standing(const PromptFigures& figures) {
  const double spread = std::max(std::sqrt(figures.square / std::max(figures.uses - 1, 1)), kLeastSpread);
  return figures.mean - kDoubt * spread / std::sqrt(std::max(figures.uses, 1));
}

PromptVariant variant_of(const KeptPrompt& one, agents::PromptSections sections, int most_uses) {
  PromptVariant variant;
  variant.id = one.id;
  variant.parent = one.parent;
  variant.sections = std::move(sections);
  variant.uses = std::min(one.figures.uses, most_uses);
  variant.asked = variant.uses;
  variant.mean = one.figures.mean;
  variant.best = one.figures.best;
  if (one.figures.uses > 0) variant.square = one.figures.square * variant.uses / one.figures.uses;
  return variant;
}

/// Text of a model or of a file: only what is still a prompt, under the name that it has by its content.
std::optional<agents::PromptSections> sections_of(const KeptPrompt& one) {
  auto sections = agents::parse_sections(one.text);
  if (!sections || agents::sections_id(*sections) != one.id) return {};
  return *std::move(sections);
}

}  // namespace

std::vector<PromptVariant> prompts_to_begin_with(const std::vector<KeptPrompt>& kept,
                                                 const agents::PromptSections& seed) {
  const int least = agents::PopulationOptions{}.min_uses;
  const std::string seed_id = agents::sections_id(seed);
  const KeptPrompt* known_seed = nullptr;
  const KeptPrompt* untried = nullptr;
  std::vector<const KeptPrompt*> proven;
  for (const KeptPrompt& one : kept) {
    if (!sections_of(one)) continue;
    if (one.id == seed_id)
      known_seed = &one;
    else if (one.figures.uses >= least)
      proven.push_back(&one);
    else
      untried = &one;  // the newest
  }
  const double bar = known_seed != nullptr && known_seed->figures.uses > 0 ? known_seed->figures.mean : 0;
  std::erase_if(proven, [&](const KeptPrompt* one) { return !(one->figures.mean > bar); });
  std::stable_sort(proven.begin(), proven.end(), [](const KeptPrompt* a, const KeptPrompt* b) {
    return standing(a->figures) > standing(b->figures);
  });
  if (proven.size() > kMostBegun) proven.resize(kMostBegun);
  std::vector<PromptVariant> begun;
  if (known_seed != nullptr) begun.push_back(variant_of(*known_seed, *sections_of(*known_seed), kMostWeight));
  for (const KeptPrompt* one : proven) begun.push_back(variant_of(*one, *sections_of(*one), kMostWeight));
  const double level = proven.empty() ? bar : std::max(bar, proven[0]->figures.mean);
  for (PromptVariant& one : begun) one.mean -= one.uses > 0 ? level : one.mean;
  if (untried != nullptr) {
    begun.push_back(variant_of(*untried, *sections_of(*untried), 0));
    begun.back().mean = begun.back().best = 0;
  }
  return begun;
}

std::string to_json(const std::vector<PromptVariant>& variants) {
  Json json = Json::array();
  for (const PromptVariant& one : variants)
    json.push_back({{"parent", one.parent},
                    {"text", agents::sections_text(one.sections)},
                    {"uses", one.uses},
                    {"mean", one.mean},
                    {"square", one.square},
                    {"best", one.best}});
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<PromptVariant>> variants_from_json(std::string_view text) {
  std::vector<PromptVariant> variants;
  const Json json = Json::parse(text, nullptr, false);
  const auto damaged = [] { return fail(Errc::invalid_input, "the run's first prompts cannot be read"); };
  if (!json.is_array()) return damaged();
  try {
    for (const Json& item : json) {
      PromptVariant one;
      one.parent = item.at("parent").get<std::string>();
      KERF_TRY(one.sections, agents::parse_sections(item.at("text").get<std::string>()));
      one.id = agents::sections_id(one.sections);
      one.uses = one.asked = item.at("uses").get<int>();
      one.mean = item.at("mean").get<double>();
      one.square = item.at("square").get<double>();
      one.best = item.at("best").get<double>();
      variants.push_back(std::move(one));
    }
  } catch (const nlohmann::json::exception&) {
    return damaged();
  }
  return variants;
}

Status keep_prompts(PromptStore& store, const RunStore& run, const std::string& target, std::int64_t wall_ms) {
  KERF_TRY(const agents::PromptPopulation prompts, prompts_of(run, FiguresOf::this_run));
  KERF_TRY(const std::string id, run_id(run));
  std::vector<KeptPrompt> left;
  for (const PromptVariant& one : prompts.variants())
    if (one.uses > 0)
      left.push_back({one.id,
                      target,
                      one.parent,
                      agents::sections_text(one.sections),
                      wall_ms,
                      1,
                      {one.uses, one.mean, one.square, one.best}});
  KERF_TRY_VOID(store.keep(id, left));
  KERF_TRY(std::vector<KeptPrompt> all, store.prompts(target));
  const std::string seed = prompts.seed().id;
  std::erase_if(all, [&](const KeptPrompt& one) { return one.id == seed; });
  if (all.size() <= kMostKept) return {};
  std::stable_sort(all.begin(), all.end(),
                   [](const KeptPrompt& a, const KeptPrompt& b) { return standing(a.figures) > standing(b.figures); });
  return store.remove({all.begin() + kMostKept, all.end()});
}

agents::PromptPopulation kept_population(const std::vector<KeptPrompt>& kept) {
  agents::PopulationOptions options;
  options.capacity = kept.size() + 1;
  agents::PromptPopulation population(agents::seed_sections(), options);
  for (const KeptPrompt& one : kept)
    if (auto sections = sections_of(one)) population.inherit(variant_of(one, *std::move(sections), one.figures.uses));
  return population;
}

std::string prompts_file(const std::vector<KeptPrompt>& kept) {
  const auto line = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; };
  std::string text = line({{"kind", kFileKind}, {"schema", 1}});
  for (const KeptPrompt& one : kept)
    text += line({{"id", one.id},
                  {"target", one.target},
                  {"parent", one.parent},
                  {"text", one.text},
                  {"recorded_ms", one.recorded_ms},
                  {"runs", one.runs},
                  {"uses", one.figures.uses},
                  {"mean", one.figures.mean},
                  {"square", one.figures.square},
                  {"best", one.figures.best}});
  return text;
}

Result<std::vector<KeptPrompt>> parse_prompts_file(std::string_view text, std::int64_t wall_ms) {
  std::vector<KeptPrompt> kept;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const Json json = Json::parse(line, nullptr, false);
    const auto refused = [&](const std::string& why) {
      return fail(Errc::invalid_input, fmt::format("line {}: {}", number, why));
    };
    if (!json.is_object()) return refused("this is no JSON object; 'kerf prompts export' writes such files");
    const auto word = [&](const char* key) {
      const auto found = json.find(key);
      return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    if (number == 1) {
      if (word("kind") != kFileKind || json.value("schema", Json()) != 1)
        return refused("this is no file of prompts (kind 'kerf prompts', schema 1)");
      continue;
    }
    KeptPrompt one;
    one.target = word("target");
    if (const Status known = check_target_name(one.target); !known) return refused(known.error().message);
    auto sections = agents::parse_sections(word("text"));
    if (!sections) return refused(sections.error().message);
    one.text = agents::sections_text(*sections);
    one.id = agents::sections_id(*sections);
    one.parent = word("parent").substr(0, 16);
    one.recorded_ms = wall_ms;
    kept.push_back(std::move(one));
  }
  if (number == 0 || kept.empty()) return fail(Errc::invalid_input, "there is no prompt in the file");
  return kept;
}

}  // namespace kerf
