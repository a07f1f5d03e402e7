#include "propose/agents/knowledge.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/test_paths.hpp"

namespace kerf::agents {
namespace {

bool shows(const std::vector<ContextItem>& items, const std::string& title) {
  for (const ContextItem& item : items)
    if (item.title == title) return true;
  return false;
}

TEST(Knowledge, EveryTargetsEntriesAreWellFormed) {
  const std::set<std::string> kinds{"any", "map", "reduce", "contract", "conv", "scan", "pool", "top", "gather"};
  int targets = 0;
  for (const auto& folder : std::filesystem::directory_iterator(source_folder() / "knowledge")) {
    if (!folder.is_directory()) continue;
    ++targets;
    const std::string target = folder.path().filename().string();
    const auto entries = knowledge_of(target);
    EXPECT_GE(entries.size(), 6u) << target;
    std::set<std::string> ids;
    for (const KnowledgeEntry& entry : entries) {
      EXPECT_TRUE(ids.insert(entry.id).second) << entry.id;
      EXPECT_TRUE(entry.id.starts_with("api:" + target + "/")) << entry.id;
      EXPECT_LT(entry.text.size(), 2000u) << entry.id;
      for (const std::string& kind : entry.kinds) EXPECT_TRUE(kinds.contains(kind)) << entry.id << " " << kind;
    }
  }
  EXPECT_GT(targets, 0);
  EXPECT_TRUE(knowledge_of("abacus").empty());
}

TEST(Knowledge, ASymbolOfTheCompilersWordsBringsItsEntry) {
  const auto entries = knowledge_of("cuda");
  ProposalRequest request;
  EXPECT_FALSE(shows(select_knowledge(entries, "map", request), "Warps"));
  KernelRecord failure;
  failure.evaluation.outcome = BuildFailed{"", "error: identifier \"__shfl_down_sync\" is undefined"};
  request.failures = {failure};
  EXPECT_EQ(select_knowledge(entries, "map", request).at(0).title, "Warps");
  failure.evaluation.outcome = BuildFailed{"", "error: identifier \"my__shfl_down_sync2\" is undefined"};
  request.failures = {failure};
  EXPECT_FALSE(shows(select_knowledge(entries, "map", request), "Warps")) << "part of a longer name";
}

TEST(Knowledge, TheParentsSymbolsAndTheKindOfTaskCount) {
  const auto entries = knowledge_of("cpu");
  ProposalRequest request;
  request.parent = KernelRecord{};
  request.parent->source = "_mm256_stream_ps(p, v); _mm_sfence(); _mm_stream_ps(q, w);";
  EXPECT_EQ(select_knowledge(entries, "conv", request).at(0).title, "Stores that pass the cache by");
  EXPECT_TRUE(shows(select_knowledge(entries, "contract", {}), "Products"));
  EXPECT_FALSE(shows(select_knowledge(entries, "map", {}), "Products"));
}

TEST(Knowledge, StaysWithinItsLimits) {
  const auto entries = knowledge_of("cuda");
  EXPECT_EQ(select_knowledge(entries, "reduce", {}, {2, 100000}).size(), 2u);
  for (const ContextItem& item : select_knowledge(entries, "reduce", {}, {9, 700})) EXPECT_LE(item.text.size(), 700u);
}

TEST(Knowledge, MistakesInAFileAreNamed) {
  EXPECT_NE(parse_knowledge("cpu/x", "hello\n").error().message.find("cpu/x.md:1"), std::string::npos);
  EXPECT_NE(parse_knowledge("cpu/x", "## A\nsymbols: b\n").error().message.find("'A'"), std::string::npos);
  const auto entry = parse_knowledge("cpu/x", "## A\nsymbols: b, c.d\nfor: map any\n\ntext\n").value().at(0);
  EXPECT_EQ(entry.symbols, (std::vector<std::string>{"b", "c.d"}));
  EXPECT_EQ(entry.kinds, (std::vector<std::string>{"map", "any"}));
  EXPECT_EQ(entry.text, "text");
}

}  // namespace
}  // namespace kerf::agents
