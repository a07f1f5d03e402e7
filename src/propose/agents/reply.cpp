#include "propose/agents/reply.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/text.hpp"

namespace kerf::agents {
namespace {

constexpr std::string_view kSearch = "<<<<<<< SEARCH", kMiddle = "=======", kReplace = ">>>>>>> REPLACE";
constexpr std::string_view kHeader = "/* kerf";

struct Edit {
  std::string search, replace;
};

/// Some models show their thoughts in the text itself.
std::string_view without_thoughts(std::string_view reply) {
  constexpr std::string_view kEnd = "</think>";
  const auto end = reply.rfind(kEnd);
  return end == std::string_view::npos ? reply : reply.substr(end + kEnd.size());
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  return lines;
}

/// Lines between `from` and `to`, each with its end.
std::string between(const std::vector<std::string>& lines, std::size_t from, std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < to; ++i) text += lines[i] + "\n";
  return text;
}

Result<std::vector<Edit>> edits_in(const std::vector<std::string>& lines) {
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (trim(lines[i]) != kSearch) continue;
    std::size_t middle = i + 1, end = 0;
    while (middle < lines.size() && trim(lines[middle]) != kMiddle) ++middle;
    for (end = middle; end < lines.size() && trim(lines[end]) != kReplace;) ++end;
    if (end >= lines.size())
      return fail(Errc::invalid_input,
                  fmt::format("edit {} has no '{}' or no '{}' line", edits.size() + 1, kMiddle, kReplace));
    edits.push_back({between(lines, i + 1, middle), between(lines, middle + 1, end)});
    i = end;
  }
  return edits;
}

Result<std::string> apply(const std::vector<Edit>& edits, std::string_view base, std::string_view name) {
  std::string source(base);
  if (!source.ends_with('\n')) source += '\n';
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const std::string& wanted = edits[i].search;
    if (trim(wanted).empty()) return fail(Errc::invalid_input, fmt::format("edit {} searches for nothing", i + 1));
    const auto at = source.find(wanted);
    if (at == std::string::npos)
      return fail(Errc::invalid_input, fmt::format("the text that edit {} searches for does not occur in the {}: {}",
                                                   i + 1, name, wanted.substr(0, wanted.find('\n'))));
    if (source.find(wanted, at + 1) != std::string::npos)
      return fail(Errc::invalid_input,
                  fmt::format("the text that edit {} searches for occurs several times in the {}: {}", i + 1, name,
                              wanted.substr(0, wanted.find('\n'))));
    source.replace(at, wanted.size(), edits[i].replace);
  }
  return source;
}

/// The contents of ``` blocks; one that is not closed ends with the text.
std::vector<std::string> blocks_in(const std::vector<std::string>& lines) {
  std::vector<std::string> blocks;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = trim(lines[i]);
    if (!line.starts_with("```")) continue;
    std::size_t end = i + 1;
    while (end < lines.size() && trim(lines[end]) != "```") ++end;
    blocks.push_back(between(lines, i + 1, end));
    i = end;
  }
  return blocks;
}

}  // namespace

Result<std::string> edited_text(std::string_view reply, std::string_view text, std::string_view name) {
  KERF_TRY(const std::vector<Edit> edits, edits_in(lines_of(without_thoughts(reply))));
  if (edits.empty()) return fail(Errc::invalid_input, "the answer holds no edit");
  return apply(edits, text, name);
}

Result<std::string> kernel_from_reply(std::string_view reply, std::string_view base) {
  const std::vector<std::string> lines = lines_of(without_thoughts(reply));
  KERF_TRY(const std::vector<Edit> edits, edits_in(lines));
  if (!edits.empty() && base.empty())
    return fail(Errc::invalid_input, "the answer edits a kernel, but there is none to edit; give the whole file");
  if (!edits.empty()) return apply(edits, base, "kernel");
  // The last block with a header is the final word; blocks before it may be sketches.
  const std::vector<std::string> blocks = blocks_in(lines);
  const std::string* chosen = nullptr;
  for (const std::string& block : blocks)
    if (block.find(kHeader) != std::string::npos) chosen = &block;
  if (chosen == nullptr)
    for (const std::string& block : blocks)
      if (chosen == nullptr || block.size() > chosen->size()) chosen = &block;
  if (chosen != nullptr && !trim(*chosen).empty()) return *chosen;
  const std::string text = between(lines, 0, lines.size());
  if (const auto at = text.find(kHeader); at != std::string::npos && blocks.empty()) return text.substr(at);
  return fail(Errc::invalid_input, "the answer holds no kernel: neither a code block nor an edit");
}

}  // namespace kerf::agents
