#include "skill/library.hpp"

#include <gtest/gtest.h>

#include "skill/fake_skill_store.hpp"
#include "skill/skill_file.hpp"

namespace kerf::skill {
namespace {

Skill made_up(const std::string& name, const std::string& idea) {
  Skill skill;
  skill.name = name;
  skill.description = name + " as advice";
  skill.key_idea = idea;
  skill.id = skill_id(skill);
  return skill;
}

Evidence trial(bool admitted, double effect, int samples) {
  Evidence one;
  one.admitted = admitted;
  one.effect = effect;
  one.samples = samples;
  return one;
}

std::vector<Skill> own(const SkillStore& store) {
  std::vector<std::string> skipped;
  return store.skills(skipped).value();
}

TEST(SkillLibrary, HasTheSeedsAndWhatWasAdded) {
  FakeSkillStore store;
  const auto added = add_skill(store, made_up("mine", "unroll the inner loop four times"));
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_FALSE(added->known);
  std::vector<std::string> skipped;
  EXPECT_EQ(all_skills(store, skipped)->size(), seed_skills().size() + 1);
  EXPECT_TRUE(add_skill(store, made_up("mine", "unroll the inner loop four times"))->known);
  EXPECT_TRUE(add_skill(store, seed_skills()[0])->known);
  EXPECT_EQ(own(store).size(), 1u);
}

TEST(SkillLibrary, NearDuplicatesBecomeOne) {
  FakeSkillStore store;
  Skill first = made_up("mine", "unroll the inner loop four times and keep four sums in registers for it");
  first.tags = {"loop"};
  first = with_evidence(first, trial(true, 0.4, 36));
  ASSERT_TRUE(add_skill(store, first));
  Skill second = made_up("mine", "unroll the inner loop four times and keep four sums in registers for them");
  second.tags = {"unroll"};
  const auto added = add_skill(store, second);
  ASSERT_TRUE(added);
  EXPECT_EQ(added->merged_with, "mine");
  const auto all = own(store);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].id, first.id) << "the verified text stays";
  EXPECT_EQ(all[0].state, State::verified);
  EXPECT_EQ(all[0].tags, (std::vector<std::string>{"loop", "unroll"}));
  EXPECT_EQ(all[0].parents, std::vector<std::string>{second.id});
  EXPECT_EQ(all[0].version, 2);
}

TEST(SkillLibrary, SkillsOfOtherScopesAreNotMerged) {
  FakeSkillStore store;
  Skill first = made_up("mine", "unroll the inner loop four times"), second = first;
  second.scope.targets = {"cuda"};
  second.id = skill_id(second);
  ASSERT_TRUE(add_skill(store, first));
  EXPECT_EQ(add_skill(store, second)->merged_with, "");
  EXPECT_EQ(own(store).size(), 2u);
}

TEST(SkillLibrary, BeyondTheCapTheLeastUsefulGo) {
  FakeSkillStore store;
  const LibraryLimits limits{3, 0.9};
  const Skill bad = with_evidence(made_up("bad", "alpha beta"), trial(false, -0.2, 12));
  const Skill good = with_evidence(made_up("good", "gamma delta"), trial(true, 0.2, 36));
  ASSERT_TRUE(add_skill(store, bad, limits));
  ASSERT_TRUE(add_skill(store, good, limits));
  ASSERT_TRUE(add_skill(store, made_up("new", "epsilon zeta"), limits));
  const auto added = add_skill(store, made_up("newest", "eta theta"), limits);
  ASSERT_TRUE(added);
  EXPECT_EQ(added->dropped, std::vector<std::string>{"bad"});
  EXPECT_EQ(own(store).size(), 3u);
}

TEST(SkillLibrary, ATrialDecidesTheState) {
  const Skill skill = made_up("mine", "an idea");
  const Skill verified = with_evidence(skill, trial(true, 0.3, 36));
  EXPECT_EQ(verified.state, State::verified);
  EXPECT_EQ(with_evidence(skill, trial(false, 0, 12)).state, State::refused);
  EXPECT_EQ(with_evidence(verified, trial(false, 0, 12)).state, State::retired) << "it was verified";
}

Evidence short_trial(double effect, double half) {
  Evidence one = trial(effect > half, effect, 12);
  one.target = "t";
  one.reason = "r";
  one.over_placebo = effect;
  one.low = one.placebo_low = effect - half;
  one.high = one.placebo_high = effect + half;
  return one;
}

TEST(SkillLibrary, ASkillThatIsTriedAgainNeedNotProveItselfAlone) {
  const Skill verified = with_evidence(made_up("mine", "an idea"), short_trial(0.2, 0.05));
  const Skill again = with_recheck(verified, short_trial(0.1, 0.12));
  EXPECT_EQ(again.state, State::verified);
  EXPECT_EQ(again.evidence.size(), 2u);
  EXPECT_NE(again.evidence.back().reason.find("still"), std::string::npos);
}

TEST(SkillLibrary, ASkillThatHelpsNoMoreIsRetiredWhenItIsTriedAgain) {
  const Skill verified = with_evidence(made_up("mine", "an idea"), short_trial(0.2, 0.05));
  EXPECT_EQ(with_recheck(verified, short_trial(-0.2, 0.12)).state, State::retired) << "slower";
  Evidence fewer_right = short_trial(0.3, 0.1);
  fewer_right.clear = true;
  EXPECT_EQ(with_recheck(verified, fewer_right).state, State::retired) << "refused for another reason";
  Skill fading = verified;  // no effect any more, again and again
  int trials = 0;
  while (fading.state == State::verified && trials < 6) fading = with_recheck(fading, short_trial(0, 0.1)), ++trials;
  EXPECT_EQ(fading.state, State::retired);
  EXPECT_GT(trials, 1);
  EXPECT_NE(fading.evidence.back().reason.find("no longer"), std::string::npos);
}

TEST(SkillLibrary, UsesThatDoNotBearItOutRetireASkill) {
  FakeSkillStore store;
  const Skill skill = with_evidence(made_up("mine", "an idea"), trial(true, 0.05, 36));
  ASSERT_TRUE(store.change({skill}, {}));
  std::vector<SkillUse> uses;
  for (int i = 0; i < 7; ++i) uses.push_back({"run", i, skill.id, -0.9});
  EXPECT_TRUE(learn_uses(store, uses)->empty()) << "too few";
  EXPECT_TRUE(learn_uses(store, uses)->empty()) << "learned once";
  EXPECT_EQ(own(store)[0].uses.count, 7);
  EXPECT_EQ(learn_uses(store, {{"run", 100, skill.id, -0.9}})->size(), 1u);
  EXPECT_EQ(own(store)[0].state, State::retired);
}

TEST(SkillLibrary, UsesThatBearItOutKeepIt) {
  FakeSkillStore store;
  const Skill skill = with_evidence(made_up("mine", "an idea"), trial(true, 0.05, 36));
  ASSERT_TRUE(store.change({skill}, {}));
  std::vector<SkillUse> uses;
  for (int i = 0; i < 20; ++i) uses.push_back({"run", i, skill.id, 0.1});
  EXPECT_TRUE(learn_uses(store, uses)->empty());
  EXPECT_EQ(own(store)[0].state, State::verified);
  EXPECT_GT(posterior_effect(own(store)[0]), posterior_effect(skill));
}

}  // namespace
}  // namespace kerf::skill
