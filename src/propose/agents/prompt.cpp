#include "propose/agents/prompt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "base/hash.hpp"
#include "base/template.hpp"
#include "base/text.hpp"
#include "propose/agents/feedback.hpp"

namespace kerf::agents {

/// Generated: path and text of every file under prompts/.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

namespace {

using Values = std::map<std::string, std::string, std::less<>>;

constexpr std::size_t kBytesPerToken = 3;   // as llm::estimated_tokens
constexpr std::size_t kLeastSection = 240;  // bytes that a section is never cut below
constexpr std::size_t kShownFailures = 2, kShownInspirations = 2;
constexpr std::size_t kLongestFailure = 3000;  // bytes of one failure's words among several

Result<std::string> template_text(std::string_view file) {
  for (const auto& [path, text] : embedded_files())
    if (path == file) return std::string(text);
  return fail(Errc::not_found, fmt::format("there is no prompt template '{}'", file));
}

/// `text` at most `bytes` long, with a line in its middle that says what is missing. Cuts are made between characters.
std::string shortened(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  const std::string mark =
      fmt::format("\n[... {} of {} bytes are left out here ...]\n", text.size() - bytes, text.size());
  const std::size_t room = bytes > mark.size() ? bytes - mark.size() : 0;
  const auto inside = [&](std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  std::size_t head = room * 2 / 3, tail = text.size() - (room - head);
  while (head > 0 && inside(head)) --head;
  while (inside(tail)) ++tail;
  return text.substr(0, head) + mark + text.substr(tail);
}

Values base_values(const AgentTask& task) {
  Values values;
  for (const char* name :
       {"approach", "example", "inspirations", "failures", "direction", "source", "parent", "evaluation"})
    values[name] = "";
  values["target"] = task.target;
  values["fence"] = task.fence;
  values["host_entry"] = task.host_entry ? "1" : "0";
  values["entry"] = task.entry;
  values["task"] = std::string(trim(task.source));
  values["facts"] = facts_text(task);
  values["may_edit"] = "0";
  return values;
}

std::string kernel_block(const KernelRecord& kernel, const AgentTask& task) {
  return fmt::format("{}:\n\n```{}\n{}\n```\n\n", headline(kernel.evaluation), task.fence, trim(kernel.source));
}

std::string inspirations_text(const ProposalRequest& request, const AgentTask& task) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShownInspirations, request.inspirations.size()); ++i)
    text += kernel_block(request.inspirations[i], task);
  return text;
}

std::string failures_text(const ProposalRequest& request) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShownFailures, request.failures.size()); ++i)
    text += fmt::format("{}. {}\n", i + 1, shortened(describe(request.failures[i].evaluation), kLongestFailure));
  return text;
}

/// Everything filled in, with the named sections cut so that all fits into the room.
Result<Prompt> compose(const std::string& stage, Values values, const std::vector<std::string>& cuttable,
                       const PromptRoom& room) {
  KERF_TRY(const std::string system, expand_prompt("system.md", values));
  Values frame = values;
  for (const std::string& name : cuttable) frame[name] = "";
  KERF_TRY(const std::string fixed, expand_prompt(stage + ".md", frame));
  const std::size_t all = static_cast<std::size_t>(std::max<std::int64_t>(room.tokens, 0)) * kBytesPerToken;
  const std::size_t taken = system.size() + fixed.size() + 400;  // headings of sections, and the messages' frames
  std::vector<Section> sections;
  for (const std::string& name : cuttable) sections.push_back({name, values[name]});
  fit_sections(sections, all > taken ? all - taken : 0);
  for (Section& section : sections) values[section.name] = std::move(section.text);
  KERF_TRY(std::string question, expand_prompt(stage + ".md", values));
  return Prompt{fmt::format("{}-{}", stage, prompt_version().substr(0, 8)),
                {{"system", system}, {"user", std::move(question)}}};
}

std::string approach_for(std::size_t number) {
  const auto text = template_text("approaches.md");
  std::vector<std::string> lines;
  for (std::string& line : split(text ? *text : "", '\n'))
    if (!trim(line).empty()) lines.push_back(std::move(line));
  return lines.empty() ? "" : lines[number % lines.size()];
}

}  // namespace

void fit_sections(std::vector<Section>& sections, std::size_t bytes) {
  // The level L at which the sections, none longer than L, take all of the room.
  std::vector<std::size_t> sizes;
  for (const Section& section : sections) sizes.push_back(section.text.size());
  std::sort(sizes.begin(), sizes.end());
  std::size_t left = bytes, level = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t share = left / (sizes.size() - i);
    if (sizes[i] > share) {
      level = std::max(share, kLeastSection);
      break;
    }
    left -= sizes[i];
    level = sizes[i];
  }
  for (Section& section : sections) section.text = shortened(section.text, level);
}

std::string facts_text(const AgentTask& task) {
  std::string text;
  for (const std::string& fact : task.facts) text += "- " + fact + "\n";
  return text;
}

std::string prompt_version() {
  std::string all;
  for (const auto& [path, text] : embedded_files()) all += fmt::format("{}\n{}\n", path, text);
  return sha256_hex(all);
}

Result<std::string> expand_prompt(const std::string& file, Values values) {
  templates::Environment environment;
  environment.lookup = templates::lookup_in(std::move(values));
  environment.files = [](std::string_view name) { return template_text(name); };
  KERF_TRY(const std::string text, template_text(file));
  return templates::expand("prompts/" + file, text, environment);
}

Result<Prompt> draft_prompt(const AgentTask& task, const ProposalRequest& request, const PromptRoom& room) {
  Values values = base_values(task);
  values["example"] = std::string(trim(task.example));
  values["inspirations"] = inspirations_text(request, task);
  values["failures"] = failures_text(request);
  // The first attempt is free; later ones are pushed apart.
  if (request.start_number > 0 || request.operation != kStartOperation)
    values["approach"] = approach_for(request.operation == kStartOperation ? request.start_number - 1 : request.seed);
  return compose("draft", std::move(values), {"task", "example", "inspirations", "failures"}, room);
}

Result<Prompt> refine_prompt(const AgentTask& task, const ProposalRequest& request, const PromptRoom& room) {
  KERF_CHECK(request.parent.has_value(), "refining needs a parent");
  Values values = base_values(task);
  values["parent"] = std::string(trim(request.parent->source));
  values["evaluation"] = describe(request.parent->evaluation);
  values["direction"] = request.direction ? describe(*request.direction) : "";
  values["inspirations"] = inspirations_text(request, task);
  values["failures"] = failures_text(request);
  values["may_edit"] = "1";
  return compose("refine", std::move(values), {"task", "parent", "evaluation", "inspirations", "failures"}, room);
}

Result<Prompt> repair_prompt(const AgentTask& task, const std::vector<llm::Message>& conversation,
                             const KernelRecord& failure, const std::string& unreadable, const PromptRoom& room) {
  Values values = base_values(task);
  values["evaluation"] = unreadable.empty() ? describe(failure.evaluation) : unreadable + "\n";
  values["may_edit"] = unreadable.empty() ? "1" : "0";
  std::vector<llm::Message> kept = conversation;
  // The first two messages say what it is about; those right after them are the oldest turn.
  while (kept.size() > 4 && llm::estimated_tokens(kept) > room.tokens * 2 / 3)
    kept.erase(kept.begin() + 2, kept.begin() + 4);
  // An answer that was an edit does not show the file that was judged.
  if (unreadable.empty() && kept.back().content.find(std::string(trim(failure.source))) == std::string::npos)
    values["source"] = std::string(trim(failure.source));
  const std::int64_t left = room.tokens - llm::estimated_tokens(kept);
  KERF_TRY(Prompt prompt, compose("repair", std::move(values), {"evaluation", "source"},
                                  {std::max<std::int64_t>(left, room.tokens / 4)}));
  kept.push_back(std::move(prompt.messages.back()));
  prompt.messages = std::move(kept);
  return prompt;
}

}  // namespace kerf::agents
