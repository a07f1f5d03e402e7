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
#include "propose/agents/profile.hpp"

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
  for (const char* name : {"approach", "example", "inspirations", "failures", "direction", "source", "parent",
                           "evaluation", "timed", "context"})
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

std::string timed_text(const KernelRecord& kernel) {
  std::string text;
  for (const TimedValues& one : kernel.timed) {
    std::vector<std::string> values;
    for (const auto& [name, value] : one.tunables) values.push_back(fmt::format("{}={}", name, value));
    text += fmt::format("- {}: {:.4g} us\n", join(values, ", "), one.time_us);
  }
  return text;
}

/// Everything filled in, with the named sections cut so that all fits.
Result<Prompt> compose(const std::string& stage, Values values, const std::vector<std::string>& cuttable,
                       const PromptOptions& options, bool with_system = true) {
  const PromptSections sections = options.variant != nullptr ? options.variant->sections : PromptSections{};
  std::string system;
  if (with_system) {
    KERF_TRY(system, expand_prompt("system.md", values, sections));
  }
  Values frame = values;
  for (const std::string& name : cuttable) frame[name] = "";
  KERF_TRY(const std::string fixed, expand_prompt(stage + ".md", frame, sections));
  const std::size_t all = static_cast<std::size_t>(std::max<std::int64_t>(options.tokens, 0)) * kBytesPerToken;
  const std::size_t taken = system.size() + fixed.size() + 400;  // headings of sections, and the messages' frames
  std::vector<Section> parts;
  for (const std::string& name : cuttable) parts.push_back({name, values[name]});
  fit_sections(parts, all > taken ? all - taken : 0);
  for (Section& part : parts) {
    const bool items_cut = part.name == "context" && part.text.size() < values[part.name].size();
    values[part.name] = items_cut ? context_text(options.context, part.text.size()) : std::move(part.text);
  }
  KERF_TRY(std::string question, expand_prompt(stage + ".md", values, sections));
  Prompt prompt{fmt::format("{}-{}", stage, prompt_version().substr(0, 8)), {}};
  if (options.variant != nullptr) prompt.id += "-" + options.variant->id;
  if (with_system) prompt.messages.push_back({"system", std::move(system)});
  prompt.messages.push_back({"user", std::move(question)});
  return prompt;
}

std::string approach_for(std::size_t number) {
  const auto text = template_text("approaches.md");
  std::vector<std::string> lines;
  for (std::string& line : split(text ? *text : "", '\n'))
    if (!trim(line).empty()) lines.push_back(std::move(line));
  return lines.empty() ? "" : lines[number % lines.size()];
}

}  // namespace

std::string context_text(const std::vector<ContextItem>& items, std::size_t bytes) {
  std::vector<Section> bodies;
  std::size_t marks = 0;
  for (const ContextItem& item : items) {
    std::string body = item.title + "\n" + std::string(trim(item.text));
    for (std::size_t at = 0; (at = body.find("</", at)) != std::string::npos; at += 3) body.insert(at + 1, " ");
    bodies.push_back({item.id, std::move(body)});
    marks += 2 * item.kind.size() + item.id.size() + 20;
  }
  if (bytes > 0) fit_sections(bodies, bytes > marks ? bytes - marks : 1);
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i)
    text += fmt::format("<{} id=\"{}\">\n{}\n</{}>\n\n", items[i].kind, items[i].id, bodies[i].text, items[i].kind);
  return text;
}

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

Result<std::string> expand_prompt(const std::string& file, Values values, const PromptSections& sections) {
  templates::Environment environment;
  // Sections are text of a model: they are put in as values, so that nothing in them is taken for a template.
  for (const std::string_view name : kPromptSections) {
    const auto own = sections.find(name);
    if (own != sections.end()) values[fmt::format("section_{}", name)] = own->second;
  }
  environment.lookup = templates::lookup_in(std::move(values));
  environment.files = [&sections](std::string_view name) -> Result<std::string> {
    for (const std::string_view section : kPromptSections)
      if (sections.contains(section) && name == fmt::format("sections/{}.md", section))
        return fmt::format("$section_{}\n", section);
    return template_text(name);
  };
  KERF_TRY(const std::string text, template_text(file));
  return templates::expand("prompts/" + file, text, environment);
}

Result<Prompt> single_prompt(const std::string& stage, Values values, const std::vector<std::string>& cuttable,
                             const PromptOptions& options) {
  return compose(stage, std::move(values), cuttable, options, false);
}

Result<Prompt> draft_prompt(const AgentTask& task, const ProposalRequest& request, const PromptOptions& options) {
  Values values = base_values(task);
  values["example"] = std::string(trim(task.example));
  values["inspirations"] = inspirations_text(request, task);
  values["failures"] = failures_text(request);
  // The first attempt is free; later ones are pushed apart.
  if (request.start_number > 0 || request.operation != kStartOperation)
    values["approach"] = approach_for(request.operation == kStartOperation ? request.start_number - 1 : request.seed);
  values["context"] = context_text(options.context);
  return compose("draft", std::move(values), {"task", "example", "inspirations", "failures", "context"}, options);
}

Result<Prompt> refine_prompt(const AgentTask& task, const ProposalRequest& request, const PromptOptions& options) {
  KERF_CHECK(request.parent.has_value(), "refining needs a parent");
  Values values = base_values(task);
  values["parent"] = std::string(trim(request.parent->source));
  values["evaluation"] = describe(request.parent->evaluation) + profile_text(*request.parent, task.host_entry);
  values["timed"] = timed_text(*request.parent);
  values["context"] = context_text(options.context);
  values["direction"] = request.direction ? describe(*request.direction) : "";
  values["inspirations"] = inspirations_text(request, task);
  values["failures"] = failures_text(request);
  values["may_edit"] = "1";
  return compose("refine", std::move(values),
                 {"task", "parent", "evaluation", "timed", "inspirations", "failures", "context"}, options);
}

Result<Prompt> repair_prompt(const AgentTask& task, const std::vector<llm::Message>& conversation,
                             const KernelRecord& failure, const std::string& unreadable, const PromptOptions& options) {
  Values values = base_values(task);
  values["evaluation"] = unreadable.empty() ? describe(failure.evaluation) : unreadable + "\n";
  values["may_edit"] = unreadable.empty() ? "1" : "0";
  std::vector<llm::Message> kept = conversation;
  // The first two messages say what it is about; those right after them are the oldest turn.
  while (kept.size() > 4 && llm::estimated_tokens(kept) > options.tokens * 2 / 3)
    kept.erase(kept.begin() + 2, kept.begin() + 4);
  // An answer that was an edit does not show the file that was judged.
  if (unreadable.empty() && kept.back().content.find(std::string(trim(failure.source))) == std::string::npos)
    values["source"] = std::string(trim(failure.source));
  const std::int64_t left = options.tokens - llm::estimated_tokens(kept);
  PromptOptions rest{std::max<std::int64_t>(left, options.tokens / 4), options.variant, {}};
  KERF_TRY(Prompt prompt, compose("repair", std::move(values), {"evaluation", "source"}, rest));
  kept.push_back(std::move(prompt.messages.back()));
  prompt.messages = std::move(kept);
  return prompt;
}

}  // namespace kerf::agents
