#include "skill/skill_file.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/rng.hpp"

namespace kerf::skill {
namespace {

const std::string kFile = R"(name = "blocked-rows"
description = "Rows in blocks"
tags = ["row", "cache"]
preconditions = ["many rows"]
[scope]
targets = ["cpu"]
families = ["reduce"]
[body]
motivation = "why"
key_idea = "how"
example = "for (;;) {}"
[[hint]]
operators = ["reduce.sum", "map.exp"]
family = "row"
variant = "rows"
parameters = { LANES = 64 }
)";

std::string error_of(const std::string& text) {
  const auto read = skill_from_toml(text, "a.toml");
  return read ? "" : read.error().message;
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kFile;
  return text.replace(text.find(from), from.size(), to);
}

TEST(SkillFile, SaysWhatASkillIs) {
  const auto skill = skill_from_toml(kFile, "a.toml");
  ASSERT_TRUE(skill) << skill.error().message;
  EXPECT_EQ(skill->name, "blocked-rows");
  EXPECT_EQ(skill->state, State::candidate);
  EXPECT_EQ(skill->scope.families, std::vector<std::string>{"reduce"});
  ASSERT_EQ(skill->hints.size(), 1u);
  EXPECT_EQ(skill->hints[0].operators.front(), "map.exp") << "sorted";
  EXPECT_EQ(skill->hints[0].parameters.at("LANES"), 64);
  EXPECT_TRUE(applies(*skill, "cpu", "reduce"));
  EXPECT_FALSE(applies(*skill, "cuda", "reduce"));
  EXPECT_FALSE(applies(*skill, "cpu", "map"));
}

TEST(SkillFile, IsWrittenAsItIsRead) {
  const Skill skill = skill_from_toml(kFile, "a.toml").value();
  const auto again = skill_from_toml(to_toml(skill), "b.toml");
  ASSERT_TRUE(again) << again.error().message << to_toml(skill);
  EXPECT_EQ(*again, skill);
}

TEST(SkillFile, SaysWhatIsWrong) {
  EXPECT_NE(error_of(with("tags", "tagz")).find("unknown key 'tagz' (did you mean 'tags'?)"), std::string::npos);
  EXPECT_NE(error_of(with("\"blocked-rows\"", "\"Blocked Rows\"")).find("'name'"), std::string::npos);
  EXPECT_NE(error_of(with("key_idea", "kee_idea")).find("key_idea"), std::string::npos);
  EXPECT_NE(error_of(with("LANES = 64", "LANES = \"x\"")).find("parameters"), std::string::npos);
  EXPECT_NE(error_of(with("name = ", "name = = ")).find("a.toml:1"), std::string::npos);
  EXPECT_NE(error_of("name = \"x\"\ndescription = \"y\"\n").find("nothing to act on"), std::string::npos);
}

TEST(SkillFile, RefusesWhatIsTooLongOrHidden) {
  EXPECT_NE(error_of(with("\"why\"", "\"" + std::string(5000, 'x') + "\"")).find("'motivation'"), std::string::npos);
  EXPECT_NE(error_of(std::string(kLongestSkill + 1, '#')).find("more than"), std::string::npos);
  EXPECT_NE(error_of(with("\"why\"", "\"\\u001b[2J\"")).find("control or hidden"), std::string::npos);
  EXPECT_NE(error_of(with("\"why\"", "\"\\u202e\"")).find("control or hidden"), std::string::npos);
  std::string hints = kFile;
  for (int i = 0; i < 20; ++i) hints += "[[hint]]\nfamily = \"row\"\nvariant = \"rows\"\n";
  EXPECT_NE(error_of(hints).find("'hint'"), std::string::npos);
}

TEST(SkillFile, ClaimsOfAFileAreNoEvidence) {
  EXPECT_NE(error_of("state = \"verified\"\n" + kFile).find("unknown key 'state'"), std::string::npos);
}

TEST(SkillFile, ARecordKeepsEverything) {
  Skill skill = skill_from_toml(kFile, "a.toml").value();
  skill.state = State::verified;
  skill.uses = {3, 0.25};
  Evidence trial;
  trial.admitted = true;
  trial.reason = "faster";
  trial.tasks = {"softmax", "rowsum", "layernorm"};
  trial.samples = 36;
  trial.effect = 0.3, trial.low = 0.1, trial.high = 0.5;
  trial.right_with = 1;
  trial.device = "a processor";
  skill.evidence.push_back(trial);
  const auto again = skill_from_json(to_json(skill));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, skill);
}

TEST(SkillFile, ImportedSkillsAreCandidatesWhateverTheyClaim) {
  Skill skill = skill_from_toml(kFile, "a.toml").value();
  skill.state = State::verified;
  skill.uses = {100, 2};
  skill.evidence.push_back({});
  skill.evidence.back().admitted = true;
  skill.evidence.back().samples = 1000;
  skill.evidence.back().effect = 3;
  std::string changed = to_json(skill);
  changed.replace(changed.find("\"how\""), 5, "\"cut\"");  // the id is that of another text
  const auto read = skills_from_lines(to_lines({skill}) + changed + "\nnonsense\n");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->skills.size(), 1u);
  EXPECT_EQ(read->skills[0].state, State::candidate);
  EXPECT_EQ(read->skills[0].uses.count, 0);
  EXPECT_EQ(posterior_effect(read->skills[0]), 0);
  ASSERT_EQ(read->skipped.size(), 2u);
  EXPECT_NE(read->skipped[0].find("line 3: 'id'"), std::string::npos) << read->skipped[0];
  EXPECT_FALSE(skills_from_lines("{\"kind\":\"kerf memory\",\"schema\":1}\n"));
}

TEST(SkillFile, DamagedRecordsAreErrorsNotCrashes) {
  Skill skill = skill_from_toml(kFile, "a.toml").value();
  skill.evidence.push_back({});
  const std::string line = to_json(skill);
  Rng rng(5);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = line, file = kFile;
    for (int n = 0; n < 3; ++n) {
      damaged[static_cast<std::size_t>(rng.integer(0, static_cast<int>(damaged.size()) - 1))] =
          static_cast<char>(rng.integer(1, 255));
      file[static_cast<std::size_t>(rng.integer(0, static_cast<int>(file.size()) - 1))] =
          static_cast<char>(rng.integer(1, 255));
    }
    (void)skill_from_json(damaged);
    (void)skill_from_toml(file, "a.toml");
  }
}

TEST(SkillFile, APlaceboHasTheSameLengthAndSaysNothing) {
  for (const Skill& seed : seed_skills()) {
    const Skill placebo = placebo_of(seed);
    EXPECT_NEAR(static_cast<double>(skill_text(placebo).size()), static_cast<double>(skill_text(seed).size()), 2)
        << seed.name;
    EXPECT_TRUE(placebo.hints.empty());
  }
}

TEST(SkillFile, ShippedEvidenceBelongsToTheVerySkillThatWasTried) {
  std::vector<Skill> seeds = seed_skills();
  for (Skill& seed : seeds) {
    seed.evidence.clear();
    seed.state = State::candidate;
  }
  Evidence good, bad;
  good.admitted = true;
  good.effect = 0.2;
  good.target = bad.target = "cpu";
  std::vector<Skill> tried(seeds.begin(), seeds.begin() + 3);
  tried[0].evidence = {bad, good};
  tried[1].evidence = {good, bad};
  tried[2].evidence = {good};
  tried[2].key_idea += " or something else";  // it was changed since
  tried[2].id = skill_id(tried[2]);
  const auto shipped = with_shipped_evidence(seeds, to_lines(tried));
  ASSERT_TRUE(shipped) << shipped.error().message;
  EXPECT_EQ((*shipped)[0].state, State::verified);
  ASSERT_EQ((*shipped)[0].evidence.size(), 2u);
  EXPECT_TRUE((*shipped)[0].evidence[1].imported) << "it was found on another machine";
  EXPECT_EQ(posterior_effect((*shipped)[0]), 0) << "and says nothing about this one";
  EXPECT_EQ((*shipped)[1].state, State::candidate) << "the newest trial counts";
  EXPECT_TRUE((*shipped)[2].evidence.empty());
  EXPECT_FALSE(with_shipped_evidence(seeds, "no export"));
}

TEST(SkillFile, SeedsAreVerifiedOnlyWhereTheGateAdmittedThem) {
  for (const Skill& seed : seed_skills()) {
    const bool admitted = !seed.evidence.empty() && seed.evidence.back().admitted;
    EXPECT_EQ(seed.state, admitted ? State::verified : State::candidate) << seed.name;
  }
}

TEST(SkillFile, SeedsCanBeReadAndHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Skill& seed : seed_skills()) {
    EXPECT_TRUE(names.insert(seed.name).second) << seed.name;
    EXPECT_FALSE(seed.hints.empty()) << seed.name;
    EXPECT_EQ(seed.scope.targets.size(), 1u) << seed.name;
  }
  EXPECT_GE(names.size(), 6u);
}

}  // namespace
}  // namespace kerf::skill
