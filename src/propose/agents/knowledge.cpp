#include "propose/agents/knowledge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>
#include <utility>

#include "base/text.hpp"

namespace kerf::knowledge {

/// Generated: path and text of every file under knowledge/.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

}  // namespace kerf::knowledge

namespace kerf::agents {
namespace {

constexpr double kOfFailure = 4, kOfParent = 1, kOfKind = 2, kOfAny = 0.5;  // what a symbol or a kind counts

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// `symbol` as a name of its own, not as part of a longer one.
bool stands_in(std::string_view text, std::string_view symbol) {
  for (std::size_t at = 0; (at = text.find(symbol, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + symbol.size();
    if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end]))) return true;
  }
  return false;
}

std::vector<std::string> names_in(std::string_view list, char between) {
  std::vector<std::string> names;
  for (const std::string& part : split(std::string(list), between))
    if (const std::string_view name = trim(part); !name.empty()) names.emplace_back(name);
  return names;
}

double worth(const KnowledgeEntry& entry, const std::string& family, const ProposalRequest& request) {
  double sum = 0;
  for (const std::string& symbol : entry.symbols) {
    for (const KernelRecord& failure : request.failures)
      if (stands_in(outcome_message(failure.evaluation.outcome), symbol)) {
        sum += kOfFailure;
        break;
      }
    if (request.parent && stands_in(request.parent->source, symbol)) sum += kOfParent;
  }
  for (const std::string& kind : entry.kinds)
    if (kind == family)
      sum += kOfKind + 1 / static_cast<double>(entry.kinds.size());  // what is about few kinds says more of each
    else if (kind == "any")
      sum += kOfAny;
  return sum;
}

}  // namespace

Result<std::vector<KnowledgeEntry>> parse_knowledge(const std::string& name, std::string_view text) {
  std::vector<KnowledgeEntry> entries;
  std::size_t number = 0;
  for (const std::string& line : split(std::string(text), '\n')) {
    ++number;
    if (line.starts_with("## ")) {
      KnowledgeEntry entry;
      entry.title = line.substr(3);
      entry.id = fmt::format("api:{}#{}", name, entry.title);
      entries.push_back(std::move(entry));
    } else if (entries.empty()) {
      if (!trim(line).empty())
        return fail(Errc::invalid_input,
                    fmt::format("knowledge/{}.md:{}: text before the first '## Title'", name, number));
    } else if (line.starts_with("symbols:")) {
      entries.back().symbols = names_in(line.substr(8), ',');
    } else if (line.starts_with("for:")) {
      entries.back().kinds = names_in(line.substr(4), ' ');
    } else {
      entries.back().text += line + "\n";
    }
  }
  for (KnowledgeEntry& entry : entries) {
    entry.text = std::string(trim(entry.text));
    if (entry.text.empty() || entry.kinds.empty())
      return fail(Errc::invalid_input,
                  fmt::format("knowledge/{}.md: '{}' needs a text and a line 'for: KINDS'", name, entry.title));
  }
  return entries;
}

std::vector<KnowledgeEntry> knowledge_of(const std::string& target) {
  std::vector<KnowledgeEntry> all;
  for (const auto& [path, text] : knowledge::embedded_files()) {
    if (!path.starts_with(target + "/")) continue;
    auto entries = parse_knowledge(std::string(path.substr(0, path.rfind('.'))), text);
    KERF_CHECK(entries.has_value(), "the files under knowledge/ are well formed");
    for (KnowledgeEntry& entry : *entries) all.push_back(std::move(entry));
  }
  return all;
}

std::vector<ContextItem> select_knowledge(const std::vector<KnowledgeEntry>& entries, const std::string& family,
                                          const ProposalRequest& request, const KnowledgeLimits& limits) {
  std::vector<std::pair<double, const KnowledgeEntry*>> ranked;
  for (const KnowledgeEntry& entry : entries)
    if (const double score = worth(entry, family, request); score > 0) ranked.emplace_back(score, &entry);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<ContextItem> items;
  std::size_t bytes = 0;
  for (const auto& [score, entry] : ranked) {
    if (items.size() >= limits.entries) break;
    if (bytes + entry->text.size() > limits.bytes) continue;
    bytes += entry->text.size();
    items.push_back({entry->id, "api", entry->title, entry->text});
  }
  return items;
}

}  // namespace kerf::agents
