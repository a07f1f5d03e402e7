#include "propose/agents/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "skill/skill_file.hpp"

namespace kerf::agents {
namespace {

constexpr double kLeastRatio = 1.2;
constexpr std::size_t kLongestReply = 32u << 10;
constexpr std::array<std::string_view, 7> kLabels{"NAME", "DESCRIPTION", "TAGS", "WHEN", "WHY", "HOW", "EXAMPLE"};

std::optional<double> log_speedup_of(const Step& step) {
  const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome);
  if (measured == nullptr || is_trial(step) || !(measured->speedup.ratio > 0)) return {};
  return std::log(measured->speedup.ratio);
}

/// At most `most` bytes, cut between characters.
std::string cut(std::string_view text, std::size_t most) {
  std::string shortened(trim(text.substr(0, most)));
  return valid_utf8(shortened) == shortened || text.size() <= most ? shortened : printable(shortened);
}

/// Text by label; a label begins a line, in bold or not.
std::map<std::string_view, std::string> labelled(std::string_view text) {
  std::map<std::string_view, std::string> parts;
  std::string* open = nullptr;
  for (const std::string& line : split(text, '\n')) {
    std::string_view bare = trim(line);
    while (bare.starts_with('*') || bare.starts_with('#') || bare.starts_with(' ')) bare.remove_prefix(1);
    for (const std::string_view label : kLabels) {
      if (!bare.starts_with(label)) continue;
      std::string_view rest = bare.substr(label.size());
      while (rest.starts_with('*')) rest.remove_prefix(1);
      if (!rest.starts_with(':')) continue;
      rest.remove_prefix(1);
      while (rest.starts_with('*')) rest.remove_prefix(1);
      open = &parts[label];
      *open = std::string(trim(rest)) + "\n";
      bare = {};
      break;
    }
    if (open != nullptr && !bare.empty()) *open += line + "\n";
  }
  return parts;
}

std::string name_of(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 && byte < 128)
      name += static_cast<char>(std::tolower(byte));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  name = name.substr(0, 60);
  while (name.ends_with('-')) name.pop_back();
  return name;
}

std::string without_fences(const std::string& text) {
  std::string code;
  for (const std::string& line : split(text, '\n'))
    if (!trim(line).starts_with("```")) code += line + "\n";
  return code;
}

std::string one_paragraph(std::string_view text, std::size_t most) {
  std::string line = cut(text, most);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

std::optional<Improved> Lineages::observe(const Step& step) {
  const auto speed = log_speedup_of(step);
  if (!speed || step.source.empty() || is_duplicate(step) || is_confirmation(step)) return {};
  std::int64_t root = step.number;
  for (const std::int64_t parent : step.parents)
    if (const auto known = root_.find(parent); known != root_.end()) {
      root = known->second;
      break;
    }
  root_[step.number] = root;
  if (root == step.number) {
    lines_[root] = {step.source, *speed, *speed};
    return {};
  }
  Line& line = lines_[root];
  const double least = std::log(kLeastRatio);
  if (step.provenance.model.empty() || *speed < line.began + least || *speed < least || *speed < line.told + least)
    return {};
  line.told = *speed;
  return Improved{line.first, step.source, std::exp(*speed - line.began)};
}

Result<Prompt> summary_prompt(const AgentTask& task, const Improved& improved, const std::string& family,
                              const PromptOptions& options) {
  return single_prompt("summarise",
                       {{"task", std::string(trim(task.source))},
                        {"target", task.target},
                        {"family", family},
                        {"fence", task.fence},
                        {"ratio", fmt::format("{:.2f}", improved.ratio)},
                        {"first", std::string(trim(improved.first))},
                        {"last", std::string(trim(improved.last))}},
                       {"task", "first", "last"}, options);
}

Result<skill::Skill> summarised_skill(std::string_view reply, const std::string& target, const std::string& family) {
  const std::string clean = printable(reply.substr(0, kLongestReply));
  auto parts = labelled(clean);
  for (const std::string_view label : {"NAME", "DESCRIPTION", "HOW"})
    if (trim(parts[label]).empty())
      return fail(Errc::invalid_input, fmt::format("the answer has no text after '{}:'", label));
  skill::Skill skill;
  skill.name = name_of(parts["NAME"]);
  skill.description = one_paragraph(parts["DESCRIPTION"], 380);
  for (const std::string& tag : split(parts["TAGS"], ','))
    if (skill.tags.size() < 12 && !trim(tag).empty()) skill.tags.push_back(one_paragraph(trim(tag), 40));
  if (!trim(parts["WHEN"]).empty()) skill.preconditions = {one_paragraph(parts["WHEN"], 220)};
  skill.motivation = cut(parts["WHY"], 1400);
  skill.key_idea = cut(parts["HOW"], 2800);
  skill.example = cut(without_fences(parts["EXAMPLE"]), 4000);
  skill.scope.targets = {target};
  if (!family.empty()) skill.scope.families = {family};
  // Held to the same limits as a file of anybody's.
  return skill::skill_from_toml(to_toml(skill), "the answer");
}

}  // namespace kerf::agents
