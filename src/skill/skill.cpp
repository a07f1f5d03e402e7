#include "skill/skill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace kerf::skill {
namespace {

constexpr std::array<std::pair<State, std::string_view>, 4> kStates{{{State::candidate, "candidate"},
                                                                     {State::verified, "verified"},
                                                                     {State::refused, "refused"},
                                                                     {State::retired, "retired"}}};
constexpr double kPriorSamples = 4;  // of an effect of 0
constexpr std::string_view kNeutral =
    "Notes are read from the first line to the last one. A good note is short and has a date. Paper comes in several "
    "sizes, and most offices keep two of them. The margin on the left is wider than the one on the right. ";

std::string hint_text(const Hint& hint) {
  std::string text = fmt::format("{}/{} for {}", hint.family, hint.variant, join(hint.operators, " "));
  for (const auto& [name, value] : hint.parameters) text += fmt::format(" {}={}", name, value);
  return text;
}

}  // namespace

std::string_view state_name(State state) {
  for (const auto& [one, name] : kStates)
    if (one == state) return name;
  return "";
}

Result<State> state_from_name(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [one, known] : kStates) {
    if (known == name) return one;
    names.emplace_back(known);
  }
  return fail(Errc::invalid_input,
              fmt::format("unknown state of a skill '{}'; choose one of: {}", name, join(names, ", ")));
}

std::string skill_id(const Skill& skill) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", skill.name, skill.description, skill.motivation,
                                 skill.key_idea, skill.example, join(skill.preconditions, "\n"));
  text += fmt::format("targets {}\nfamilies {}\n", join(skill.scope.targets, " "), join(skill.scope.families, " "));
  for (const Hint& hint : skill.hints) text += hint_text(hint) + "\n";
  return sha256_hex(text).substr(0, 12);
}

std::string skill_text(const Skill& skill) {
  std::string text = skill.description + "\n";
  if (!skill.preconditions.empty()) text += "Only when: " + join(skill.preconditions, "; ") + "\n";
  if (!skill.motivation.empty()) text += "Why: " + skill.motivation + "\n";
  if (!skill.key_idea.empty()) text += "How: " + skill.key_idea + "\n";
  if (!skill.example.empty()) text += "Example:\n" + skill.example + "\n";
  return text;
}

bool applies(const Skill& skill, std::string_view target, std::string_view family) {
  const auto allowed = [](const std::vector<std::string>& list, std::string_view word) {
    return list.empty() || std::find(list.begin(), list.end(), word) != list.end();
  };
  return allowed(skill.scope.targets, target) && allowed(skill.scope.families, family);
}

double posterior_effect(const Skill& skill) {
  double weight = kPriorSamples + skill.uses.count, sum = skill.uses.count * skill.uses.mean;
  for (auto trial = skill.evidence.rbegin(); trial != skill.evidence.rend(); ++trial) {
    if (trial->imported) continue;
    weight += trial->samples;
    sum += trial->samples * trial->effect;
    break;
  }
  return sum / weight;
}

Skill placebo_of(const Skill& skill) {
  Skill placebo;
  placebo.name = "notes";
  placebo.scope = skill.scope;
  const std::size_t wanted = skill_text(skill).size();
  // The key idea takes what the labels of the text leave.
  placebo.description = std::string(kNeutral.substr(0, std::min<std::size_t>(skill.description.size(), 60)));
  const std::size_t taken = placebo.description.size() + 7;
  while (placebo.key_idea.size() + taken < wanted) placebo.key_idea += kNeutral;
  placebo.key_idea.resize(wanted > taken ? wanted - taken : 0);
  placebo.origin = "placebo of " + skill.id;
  placebo.id = skill_id(placebo);
  return placebo;
}

}  // namespace kerf::skill
