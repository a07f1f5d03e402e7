#include "propose/agents/prompt_population.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace kerf::agents {
namespace {

constexpr std::size_t kLongestSection = 2000;  // bytes
constexpr double kLevelRate = 0.1;             // of the running mean gain of a stage: old kernels were easier to beat
constexpr double kLeastSpread = 0.05;          // of gains: a few equal ones are no proof
constexpr double kOptimism = 0.5;              // of the upper confidence bound
constexpr double kPublishedTemperature = 0.2;
constexpr double kPublishedUniform = 0.2;
constexpr double kPublishedBonus = 0.2;

std::vector<std::string> known_sections() { return {std::begin(kPromptSections), std::end(kPromptSections)}; }

}  // namespace

std::string sections_text(const PromptSections& sections) {
  std::string text;
  for (const std::string_view name : kPromptSections) {
    const auto found = sections.find(name);
    text += fmt::format("# {}\n{}\n\n", name, found == sections.end() ? "" : trim(found->second));
  }
  return text;
}

Result<PromptSections> parse_sections(std::string_view text) {
  PromptSections sections;
  std::string* current = nullptr;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with("# ")) {
      const std::string name(trim(std::string_view(line).substr(2)));
      const auto known = known_sections();
      if (std::find(known.begin(), known.end(), name) == known.end())
        return fail(Errc::invalid_input,
                    fmt::format("unknown section '{}'; choose one of: {}", name, join(known, ", ")));
      if (sections.contains(name)) return fail(Errc::invalid_input, fmt::format("section '{}' is there twice", name));
      current = &sections[name];
    } else if (current != nullptr) {
      *current += line + "\n";
    } else if (!trim(line).empty()) {
      return fail(Errc::invalid_input, "there is text before the first section");
    }
  }
  for (const std::string_view name : kPromptSections) {
    const auto found = sections.find(name);
    if (found == sections.end()) return fail(Errc::invalid_input, fmt::format("section '{}' is missing", name));
    found->second = std::string(trim(found->second));
    if (found->second.empty()) return fail(Errc::invalid_input, fmt::format("section '{}' is empty", name));
    if (found->second.size() > kLongestSection)
      return fail(Errc::invalid_input, fmt::format("section '{}' has {} bytes; it may have {}", name,
                                                   found->second.size(), kLongestSection));
  }
  return sections;
}

std::string sections_id(const PromptSections& sections) {
  return "p" + sha256_hex(sections_text(sections)).substr(0, 7);
}

std::string_view prompt_rule_name(PromptRule rule) {
  return rule == PromptRule::mean ? "mean" : rule == PromptRule::published ? "published" : "frozen";
}

Result<PromptRule> prompt_rule_from_name(const std::string& name) {
  for (const PromptRule rule : {PromptRule::mean, PromptRule::published, PromptRule::frozen})
    if (prompt_rule_name(rule) == name) return rule;
  return fail(Errc::invalid_input, fmt::format("unknown prompt rule '{}'{}; choose one of: mean, published, frozen",
                                               name, did_you_mean(name, {"mean", "published", "frozen"})));
}

PromptPopulation::PromptPopulation(PromptSections seed, const PopulationOptions& options) : options_(options) {
  PromptVariant first;
  first.id = sections_id(seed);
  first.sections = std::move(seed);
  variants_.push_back(std::move(first));
}

const PromptVariant* PromptPopulation::find(std::string_view id) const {
  const auto found =
      std::find_if(variants_.begin(), variants_.end(), [&](const PromptVariant& one) { return one.id == id; });
  return found == variants_.end() ? nullptr : &*found;
}

PromptVariant* PromptPopulation::find_mutable(std::string_view id) {
  return const_cast<PromptVariant*>(std::as_const(*this).find(id));
}

std::vector<std::size_t> PromptPopulation::alive() const {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < variants_.size(); ++i)
    if (!variants_[i].dropped) all.push_back(i);
  return all;
}

std::optional<double> PromptPopulation::credit(const PromptVariant& variant) const {
  if (options_.rule == PromptRule::published) {
    if (variant.uses == 0) return std::nullopt;
    return variant.best + kPublishedBonus / std::sqrt(static_cast<double>(variant.uses));
  }
  if (variant.uses < options_.min_uses) return std::nullopt;
  return variant.mean + kOptimism * spread() * std::sqrt(2 * std::log(std::max(observed_, 2)) / variant.uses);
}

/// Standard deviation of gains, pooled over all variants.
double PromptPopulation::spread() const {
  double squares = 0;
  int uses = 0;
  for (const PromptVariant& one : variants_) {
    squares += one.square;
    uses += one.uses;
  }
  return std::max(std::sqrt(squares / std::max(uses - 1, 1)), kLeastSpread);
}

const PromptVariant& PromptPopulation::choose(Rng& rng) {
  while (alive().size() > options_.capacity && drop_worst(0)) {
  }
  const std::vector<std::size_t> all = alive();
  std::size_t chosen = 0;
  const auto least_tried = [&](int below) {
    std::optional<std::size_t> found;
    for (const std::size_t i : all)
      if (variants_[i].asked < below && (!found || variants_[i].asked < variants_[*found].asked)) found = i;
    return found;
  };
  if (options_.rule == PromptRule::mean && rng.uniform() >= options_.control_share) {
    if (const auto fresh = least_tried(options_.min_uses)) {
      chosen = *fresh;
    } else {
      double best = 0;
      bool any = false;
      for (const std::size_t i : all)
        if (const auto value = credit(variants_[i]); value && (!any || *value > best)) {
          best = *value;
          chosen = i;
          any = true;
        }
    }
  } else if (options_.rule == PromptRule::published) {
    if (const auto fresh = least_tried(1)) {
      chosen = *fresh;
    } else if (rng.uniform() < kPublishedUniform) {
      chosen = all[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(all.size()) - 1))];
    } else {
      std::vector<double> weights;
      double total = 0;
      for (const std::size_t i : all)
        weights.push_back(std::exp(credit(variants_[i]).value_or(0) / kPublishedTemperature)), total += weights.back();
      double at = rng.uniform() * total;
      for (std::size_t k = 0; k < all.size(); ++k) {
        chosen = all[k];
        if ((at -= weights[k]) < 0) break;
      }
    }
  }
  ++variants_[chosen].asked;
  return variants_[chosen];
}

void PromptPopulation::observe(std::string_view id, std::string_view stage, double gain) {
  ++observed_;
  ++since_child_;
  auto level = levels_.find(stage);
  if (level == levels_.end()) level = levels_.emplace(std::string(stage), Level{gain, 0}).first;
  PromptVariant* variant = find_mutable(id);
  if (variant != nullptr) {
    const double residual = gain - level->second.mean;
    variant->uses += 1;
    variant->asked = std::max(variant->asked, variant->uses);
    const double before = residual - variant->mean;
    variant->mean += before / variant->uses;
    variant->square += before * (residual - variant->mean);
    variant->best = std::max(variant->best, gain);
  }
  level->second.count += 1;
  level->second.mean += std::max(kLevelRate, 1.0 / level->second.count) * (gain - level->second.mean);
}

bool PromptPopulation::wants_child() const {
  return options_.rule != PromptRule::frozen && since_child_ >= options_.mutate_every;
}

const PromptVariant& PromptPopulation::parent_for_child(Rng& rng) {
  since_child_ = 0;
  // What is built upon should be good for sure, so that the doubt counts against it here.
  const auto standing = [&](const PromptVariant& one) -> std::optional<double> {
    if (options_.rule == PromptRule::published || one.uses < options_.min_uses) return credit(one);
    return one.mean - kOptimism * spread() / std::sqrt(static_cast<double>(one.uses));
  };
  std::optional<std::size_t> best;
  for (const std::size_t i : alive()) {
    const auto value = standing(variants_[i]);
    if (value && (!best || *value > *standing(variants_[*best]))) best = i;
  }
  const std::vector<std::size_t> all = alive();
  return variants_[best ? *best
                        : all[static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(all.size()) - 1))]];
}

/// False when none but the seed was used so often.
bool PromptPopulation::drop_worst(int least_uses) {
  const auto value = [&](std::size_t i) {
    return options_.rule == PromptRule::published ? variants_[i].best : variants_[i].mean;
  };
  std::optional<std::size_t> worst;
  for (const std::size_t i : alive())
    if (i != 0 && variants_[i].uses >= least_uses && (!worst || value(i) < value(*worst))) worst = i;
  if (worst) variants_[*worst].dropped = true;
  return worst.has_value();
}

void PromptPopulation::restore(const std::string& parent, PromptSections sections) {
  PromptVariant child;
  child.id = sections_id(sections);
  child.parent = parent;
  child.sections = std::move(sections);
  if (find(child.id) == nullptr) variants_.push_back(std::move(child));
}

void PromptPopulation::inherit(PromptVariant variant) {
  observed_ += variant.uses;
  if (PromptVariant* known = find_mutable(variant.id); known != nullptr) {
    variant.parent = known->parent;
    *known = std::move(variant);
  } else {
    variants_.push_back(std::move(variant));
  }
}

std::optional<std::string> PromptPopulation::add(const std::string& parent, PromptSections sections) {
  PromptVariant child;
  child.id = sections_id(sections);
  child.parent = parent;
  child.sections = std::move(sections);
  if (find(child.id) != nullptr) return std::nullopt;
  if (alive().size() >= options_.capacity && !drop_worst(options_.min_uses)) return std::nullopt;
  std::string id = child.id;
  variants_.push_back(std::move(child));
  return id;
}

}  // namespace kerf::agents
