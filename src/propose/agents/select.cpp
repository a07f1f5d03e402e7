#include "propose/agents/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "base/text.hpp"

namespace kerf::agents {
namespace {

using skill::Skill;

constexpr std::size_t kLongestAnswer = 4000;  // bytes of the end of an answer that are looked at

std::string header_of(std::size_t number, const Skill& skill) {
  std::string text = fmt::format("{}. {}: {}", number, skill.name, skill.description);
  if (!skill.preconditions.empty()) text += " Only when: " + join(skill.preconditions, "; ") + ".";
  if (!skill.evidence.empty() && !skill.evidence.back().imported)
    text += fmt::format(" Measured: {:.2f} times as fast.", std::exp(skill.evidence.back().effect));
  // Headers stand between marks that they cannot close.
  for (std::size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3) text.insert(at + 1, " ");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text + "\n";
}

/// "3", "3." or a name; none for anything else.
std::optional<std::size_t> index_of(std::string_view word, const std::vector<Skill>& skills) {
  while (!word.empty() && std::string_view(".,;:*`\"'()[]").find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  while (!word.empty() && std::string_view("*`\"'([#-").find(word.front()) != std::string_view::npos)
    word.remove_prefix(1);
  if (word.empty()) return {};
  for (std::size_t i = 0; i < skills.size(); ++i)
    if (word == skills[i].name || word == std::to_string(i + 1)) return i;
  return {};
}

}  // namespace

Result<Prompt> select_prompt(const AgentTask& task, const std::vector<Skill>& skills, const std::string& stage,
                             const PromptOptions& options) {
  std::string headers;
  for (std::size_t i = 0; i < skills.size(); ++i) headers += header_of(i + 1, skills[i]);
  return single_prompt("select",
                       {{"task", std::string(trim(task.source))},
                        {"target", task.target},
                        {"facts", facts_text(task)},
                        {"stage", stage == "draft" ? "write a first kernel" : "make a kernel that passed faster"},
                        {"most", std::to_string(kMostShownSkills)},
                        {"skills", headers}},
                       {"task", "facts", "skills"}, options);
}

Result<std::vector<std::size_t>> selected_skills(std::string_view reply, const std::vector<Skill>& skills) {
  const std::string_view text = reply.size() > kLongestAnswer ? reply.substr(reply.size() - kLongestAnswer) : reply;
  // The last line that begins with the word it was asked for; models like to talk before they answer.
  std::string_view answer;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trim(text.substr(begin, end - begin));
    if (line.starts_with("SKILLS:")) answer = line.substr(7);
    begin = end + 1;
  }
  if (answer.empty()) answer = trim(text);
  std::string spaced(answer);
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::vector<std::size_t> chosen;
  bool none = false;
  for (const std::string& word : split(spaced, ' ')) {
    const std::string_view bare = trim(word);
    none = none || bare == "none" || bare == "none." || bare == "None" || bare == "None.";
    const auto index = index_of(bare, skills);
    if (index && std::find(chosen.begin(), chosen.end(), *index) == chosen.end()) chosen.push_back(*index);
  }
  if (chosen.size() > kMostShownSkills) chosen.resize(kMostShownSkills);
  if (chosen.empty() && !none) return fail(Errc::invalid_input, "the answer names no skill, and does not say 'none'");
  return chosen;
}

std::vector<std::size_t> skills_by_value(const std::vector<Skill>& skills) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < skills.size() && chosen.size() < kMostShownSkills; ++i)
    if (posterior_effect(skills[i]) > 0) chosen.push_back(i);
  std::stable_sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
    return posterior_effect(skills[a]) > posterior_effect(skills[b]);
  });
  return chosen;
}

std::vector<ContextItem> skills_to_show(const SkillOffer& offer, std::uint64_t seed) {
  if (!offer.always && Rng(seed).fork("skills").chance(kWithoutSkills)) return {};
  std::vector<const Skill*> order;
  for (const Skill& one : offer.skills)
    if (offer.always || posterior_effect(one) >= 0) order.push_back(&one);
  if (!offer.always)
    std::stable_sort(order.begin(), order.end(),
                     [](const Skill* a, const Skill* b) { return posterior_effect(*a) > posterior_effect(*b); });
  if (order.size() > kMostShownSkills) order.resize(kMostShownSkills);
  std::vector<ContextItem> items;
  for (const Skill* one : order) items.push_back(skill_item(*one));
  return items;
}

ContextItem skill_item(const Skill& skill) {
  return {std::string(kSkillPrefix) + skill.id, "skill", skill.name, skill_text(skill)};
}

}  // namespace kerf::agents
