#pragma once
// What a target's language offers, from the files under knowledge/: looked up by symbols and by kind of task, and no
// part of what is learned.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "propose/agents/context.hpp"

namespace kerf::agents {

struct KnowledgeEntry {
  std::string id;                    ///< "api:cuda/language#Warps"
  std::string title, text;           ///< the text as it is in the file
  std::vector<std::string> symbols;  ///< names by which it is looked up, exactly
  std::vector<std::string> kinds;    ///< operator families, or "any"
};

/// The entries of one file; `name` is its path without the extension: "cuda/language". An error names the place.
Result<std::vector<KnowledgeEntry>> parse_knowledge(const std::string& name, std::string_view text);

/// What is built in for a target, in the order of the files; none for targets without a folder.
std::vector<KnowledgeEntry> knowledge_of(const std::string& target);

struct KnowledgeLimits {
  std::size_t entries = 3;
  std::size_t bytes = 4500;  ///< of all their texts; about 1500 tokens
};

/// For a question about a task of an operator family ("" where it is not known): entries whose symbols stand in the
/// words of a failure count most, then those of the parent's source, then those of the family.
std::vector<ContextItem> select_knowledge(const std::vector<KnowledgeEntry>& entries, const std::string& family,
                                          const ProposalRequest& request, const KnowledgeLimits& limits = {});

}  // namespace kerf::agents
