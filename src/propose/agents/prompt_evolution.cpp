#include "propose/agents/prompt_evolution.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "propose/agents/reply.hpp"

namespace kerf::agents {

PromptSections seed_sections() {
  PromptSections sections;
  for (const std::string_view name : kPromptSections) {
    const auto text = expand_prompt(fmt::format("sections/{}.md", name), {});
    KERF_CHECK(text.has_value(), "every section has a file in prompts/sections");
    sections[std::string(name)] = std::string(trim(*text));
  }
  return sections;
}

Result<Prompt> evolve_prompt(const PromptVariant& parent, std::span<const std::string> recent,
                             const PromptOptions& options) {
  std::string results;
  for (const std::string& line : recent) results += "- " + line + "\n";
  PromptOptions frame = options;
  frame.variant = &parent;
  return single_prompt("evolve", {{"sections", std::string(trim(sections_text(parent.sections)))}, {"recent", results}},
                       {"recent"}, frame);
}

Result<PromptSections> evolved_sections(std::string_view reply, const PromptVariant& parent) {
  KERF_TRY(const std::string text, edited_text(reply, sections_text(parent.sections), "prompt"));
  KERF_TRY(PromptSections sections, parse_sections(text));
  if (sections == parent.sections) return fail(Errc::invalid_input, "the edits change nothing");
  return sections;
}

std::string prompt_stage(std::string_view prompt_id) { return std::string(prompt_id.substr(0, prompt_id.find('-'))); }

std::string prompt_variant(std::string_view prompt_id) {
  const auto first = prompt_id.find('-'), last = prompt_id.rfind('-');
  return first == last ? "" : std::string(prompt_id.substr(last + 1));
}

}  // namespace kerf::agents
