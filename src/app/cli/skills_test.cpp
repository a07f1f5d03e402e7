// kerf skills, on a memory of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/cli.hpp"
#include "base/file.hpp"
#include "skill/skill_file.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

#define EXPECT_IN(part, text) EXPECT_NE((text).find(part), std::string::npos) << (text)

struct SkillsRan {
  int code = 0;
  std::string out, err;
};

class SkillsCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kerf-skills-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(root_); }
  SkillsRan skills(std::vector<std::string> args, const std::string& memory = "memory.db") const {
    std::ostringstream out, err;
    Console console{out, err, {}, {}};
    args.insert(args.begin(), "skills");
    args.insert(args.end(), {"--memory", (root_ / memory).string()});
    const int code = run(args, Environment{}, console);
    return {code, out.str(), err.str()};
  }
  std::string file(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(write_file_atomic(root_ / name, text));
    return (root_ / name).string();
  }
  fs::path root_;
};

constexpr const char* kMine =
    "name = \"mine\"\ndescription = \"Blocked rows\"\n[scope]\nfamilies = [\"reduce\"]\n[body]\nkey_idea = \"take rows "
    "in blocks of four\"\n";

TEST_F(SkillsCommand, ListsWhatKerfComesWithAsCandidates) {
  const auto listed = skills({"list"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_IN("keep-the-row", listed.out);
  EXPECT_IN("candidate", listed.out);
  const auto json = nlohmann::json::parse(skills({"list", "--json"}).out);
  EXPECT_EQ(json["schema"], 1);
  for (const auto& one : json["skills"]) EXPECT_EQ(one["state"], "candidate") << "none was admitted by our gate";
}

TEST_F(SkillsCommand, AFileBecomesACandidateThatIsFoundAndShown) {
  const auto added = skills({"add", file("mine.toml", kMine)});
  EXPECT_EQ(added.code, 0) << added.err;
  EXPECT_IN("mine is a candidate now", added.out);
  EXPECT_IN("known already", skills({"add", (root_ / "mine.toml").string()}).out);
  EXPECT_IN("mine", skills({"search", "blocks", "of", "rows"}).out);
  const auto shown = skills({"show", "mine"});
  EXPECT_IN("take rows in blocks of four", shown.out);
  EXPECT_IN("none yet", shown.out);
}

TEST_F(SkillsCommand, SaysWhatIsWrong) {
  EXPECT_IN("did you mean 'list'?", skills({"lst"}).err);
  EXPECT_IN("did you mean 'keep-the-row'?", skills({"show", "keep-the-ro"}).err);
  EXPECT_IN("needs the name of a skill", skills({"show"}).err);
  EXPECT_IN("mine.toml: unknown key 'stat'", skills({"add", file("mine.toml", "stat = \"verified\"\n")}).err);
  EXPECT_IN("not an export of skills", skills({"import", file("x.jsonl", "nonsense\n")}).err);
  EXPECT_EQ(skills({"show", "nothing-like-it"}).code, kMisuse);
  const auto refused =
      skills({"import", file("y.jsonl", "{\"kind\":\"kerf skills\",\"schema\":1}\n{\"id\":\"../x\"}\n")});
  EXPECT_EQ(refused.code, 1);
  EXPECT_IN("every line of", refused.err);
}

TEST_F(SkillsCommand, TrialsOfAnotherMachineAreShownAsSuch) {
  for (const skill::Skill& seed : skill::seed_skills()) {
    const auto shown = skills({"show", seed.name});
    if (seed.evidence.empty())
      EXPECT_IN("none yet", shown.out);
    else
      EXPECT_IN("on another machine", shown.out);
  }
}

TEST_F(SkillsCommand, WhatIsExportedIsImportedAsCandidates) {
  ASSERT_EQ(skills({"add", file("mine.toml", kMine)}).code, 0);
  const std::string exported = (root_ / "all.jsonl").string();
  ASSERT_EQ(skills({"export", exported}).code, 0);
  const auto imported = skills({"import", exported}, "other.db");
  EXPECT_IN("1 skills added as candidates", imported.out);
  EXPECT_IN("blocks of four", skills({"show", "mine"}, "other.db").out);
}

TEST_F(SkillsCommand, AnExportReplacesExportsOnly) {
  const std::string ours = (root_ / "ours.jsonl").string(), memory = (root_ / "memory.db").string();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(skills({"export", ours}).code, 0) << "again is fine";
  const std::string before = *read_file(memory);
  for (const std::string& place : {file("mine.toml", kMine), memory}) {
    const auto refused = skills({"export", place});
    EXPECT_EQ(refused.code, kMisuse);
    EXPECT_IN("cannot write " + place, refused.err);
  }
  EXPECT_EQ(*read_file(root_ / "mine.toml"), kMine);
  EXPECT_EQ(*read_file(memory), before);
  std::ostringstream out, err;
  Console console{out, err, {}, {}};
  EXPECT_EQ(run({"memory", "export", memory, "--memory", memory}, Environment{}, console), kMisuse);
  EXPECT_IN("the command reads this file", err.str());
  EXPECT_EQ(run({"memory", "export", ours, "--memory", memory}, Environment{}, console), kMisuse) << "of skills";
  EXPECT_EQ(run({"prompts", "export", memory, "--memory", memory}, Environment{}, console), kMisuse);
  EXPECT_EQ(*read_file(memory), before);
}

TEST_F(SkillsCommand, ATrialNeedsSomethingThatTheMindCanActOn) {
  ASSERT_EQ(skills({"add", file("mine.toml", kMine)}).code, 0);
  EXPECT_IN("no hint that the builtin mind could act on", skills({"verify", "mine"}).err);
}

}  // namespace
}  // namespace kerf::cli
