#include "propose/agents/prompt_population.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "propose/agents/prompt_evolution.hpp"

namespace kerf::agents {
namespace {

PromptSections with(const std::string& strategies) {
  return {{"philosophy", "be right"}, {"strategies", strategies}, {"pitfalls", "mind the tail"}, {"analysis", "look"}};
}

TEST(PromptSections, AreReadBackAsTheyWereWritten) {
  const PromptSections sections = with("use tiles\n\nand vectors");
  EXPECT_EQ(parse_sections(sections_text(sections)).value(), sections);
  EXPECT_EQ(sections_id(sections).size(), 8u);
  EXPECT_NE(sections_id(sections), sections_id(with("use tiles")));
}

TEST(PromptSections, ErrorsNameTheSection) {
  const auto error = [](const std::string& text) { return parse_sections(text).error().message; };
  const std::string good = sections_text(with("x"));
  EXPECT_NE(error(good + "# tricks\nnone\n").find("unknown section 'tricks'; choose one of: philosophy"),
            std::string::npos);
  EXPECT_NE(error("# philosophy\na\n").find("'strategies' is missing"), std::string::npos);
  EXPECT_NE(error("hello\n" + good).find("before the first section"), std::string::npos);
  EXPECT_NE(error(good + "# analysis\nagain\n").find("twice"), std::string::npos);
  EXPECT_NE(error(sections_text(with(std::string(2001, 'x')))).find("2001 bytes"), std::string::npos);
  EXPECT_NE(error(sections_text(with(" "))).find("'strategies' is empty"), std::string::npos);
}

TEST(PromptSections, TheSeedHasEverySection) { EXPECT_TRUE(parse_sections(sections_text(seed_sections()))); }

TEST(PromptPopulation, FrozenAsksWithTheSeedOnly) {
  PromptPopulation population(with("seed"), {PromptRule::frozen});
  Rng rng(1);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(population.choose(rng).id, population.seed().id);
    population.observe(population.seed().id, "refine", 0.1);
    EXPECT_FALSE(population.wants_child());
  }
}

TEST(PromptPopulation, ANewVariantIsWantedNowAndThen) {
  PromptPopulation population(with("seed"), {});
  Rng rng(1);
  for (int i = 0; i < 12; ++i) {
    EXPECT_FALSE(population.wants_child());
    population.observe(population.choose(rng).id, "draft", 0);
  }
  EXPECT_TRUE(population.wants_child());
  EXPECT_EQ(population.parent_for_child(rng).id, population.seed().id);
  EXPECT_FALSE(population.wants_child());
}

TEST(PromptPopulation, IsCappedAndNeverDropsTheSeed) {
  PopulationOptions options;
  options.capacity = 3;
  options.min_uses = 2;
  PromptPopulation population(with("seed"), options);
  Rng rng(1);
  for (int n = 0; n < 10; ++n) {
    (void)population.add(population.seed().id, with("variant " + std::to_string(n)));
    for (int i = 0; i < 12; ++i) population.observe(population.choose(rng).id, "refine", 0.01 * n);
    int alive = 0;
    for (const PromptVariant& one : population.variants()) alive += one.dropped ? 0 : 1;
    EXPECT_LE(alive, 3);
    EXPECT_FALSE(population.seed().dropped);
  }
  EXPECT_GT(population.variants().size(), 5u);
}

TEST(PromptPopulation, AVariantThatIsKnownIsNotAddedAgain) {
  PromptPopulation population(with("seed"), {});
  EXPECT_TRUE(population.add("", with("a")));
  EXPECT_FALSE(population.add("", with("a")));
  EXPECT_FALSE(population.add("", with("seed")));
}

TEST(PromptPopulation, EasyTimesGiveNoCredit) {
  PromptPopulation population(with("seed"), {});
  const std::string late = population.add("", with("late")).value();
  for (int i = 0; i < 20; ++i) population.observe(population.seed().id, "draft", 2.0);
  for (int i = 0; i < 40; ++i)  // both do equally well on refinements, which gain less
    population.observe(i % 2 == 0 ? population.seed().id : late, "refine", 0.1);
  EXPECT_NEAR(population.seed().mean, population.find(late)->mean, 1e-9);
}

/// A writer whose kernels gain little most of the time and much now and then, by luck or by what the prompt says.
struct Planted {
  double chance = 0.3, size = 0.1;
  double draw(Rng& rng) const { return rng.chance(chance) ? size * -std::log(1 - rng.uniform()) : 0; }
};

/// The share of the last half of 240 questions that goes to the planted good variant, over many runs.
double share_of_good(PromptRule rule) {
  double share = 0;
  constexpr int kRuns = 60, kQuestions = 240;
  for (int run = 0; run < kRuns; ++run) {
    PopulationOptions options;
    options.rule = rule;
    PromptPopulation population(with("seed"), options);
    std::map<std::string, Planted> truth{{population.seed().id, {}}};
    truth[population.add("", with("good")).value()] = {0.6, 0.15};
    truth[population.add("", with("harmful")).value()] = {0.1, 0.1};
    for (int i = 0; i < 3; ++i) truth[population.add("", with("inert " + std::to_string(i))).value()] = {};
    truth[population.add("", with("rare luck")).value()] = {0.05, 0.6};
    const std::string good = sections_id(with("good"));
    Rng rng(static_cast<std::uint64_t>(run) + 1);
    for (int i = 0; i < kQuestions; ++i) {
      const std::string id = population.choose(rng).id;
      population.observe(id, "refine", truth.at(id).draw(rng));
      if (i >= kQuestions / 2 && id == good) share += 2.0 / (kQuestions * kRuns);
    }
  }
  return share;
}

TEST(PromptPopulation, TheMeanRuleFindsTheVariantThatHelps) {
  const double mean = share_of_good(PromptRule::mean), published = share_of_good(PromptRule::published);
  RecordProperty("share_mean", std::to_string(mean));
  RecordProperty("share_published", std::to_string(published));
  EXPECT_GT(mean, 0.4) << "published: " << published;
  EXPECT_GT(mean, published);
}

/// The chances of tests/llm/writer.py: what an answer is worth under a variant, and what its edits add. A simulation of
/// the learner's environment. Gives the share of answers in the last half that are faster than their parent.
double success_with_writer(PromptRule rule, int questions) {
  const auto has = [](const PromptVariant& variant, const char* word) {
    return variant.sections.at("strategies").find(word) != std::string::npos;
  };
  constexpr int kRuns = 200;
  double success = 0;
  for (int run = 0; run < kRuns; ++run) {
    PopulationOptions options;
    options.rule = rule;
    PromptPopulation population(with("seed"), options);
    Rng rng(static_cast<std::uint64_t>(run) + 1);
    for (int i = 0; i < questions; ++i) {
      if (population.wants_child()) {
        const PromptVariant parent = population.parent_for_child(rng);
        const double draw = rng.uniform();
        const std::string more = draw < 0.3 ? "GOOD" : draw < 0.5 ? "HARMFUL" : "inert " + std::to_string(i);
        (void)population.add(parent.id, with(parent.sections.at("strategies") + "\n" + more));
      }
      const PromptVariant& chosen = population.choose(rng);
      const bool good = has(chosen, "GOOD"), harmful = has(chosen, "HARMFUL");
      const bool compiles = rng.chance(harmful ? 0.25 : 0.55), right = rng.chance(harmful ? 0.5 : 0.6);
      const bool faster = rng.chance(good ? 0.6 : 0.3) && compiles && right;
      // Most steps up are small; now and then one is large.
      population.observe(chosen.id, "refine", faster ? 0.15 * -std::log(1 - rng.uniform()) : 0);
      if (i >= questions / 2 && faster) success += 2.0 / (questions * kRuns);
    }
  }
  return success;
}

TEST(PromptPopulation, EvolutionWithTheWriterBeatsTheFrozenPrompt) {
  const double frozen = success_with_writer(PromptRule::frozen, 200);
  const double mean = success_with_writer(PromptRule::mean, 200);
  const double published = success_with_writer(PromptRule::published, 200);
  RecordProperty("success_frozen", std::to_string(frozen));
  RecordProperty("success_mean", std::to_string(mean));
  RecordProperty("success_published", std::to_string(published));
  EXPECT_NEAR(frozen, 0.55 * 0.6 * 0.3, 0.01);
  EXPECT_GT(mean, 1.15 * frozen) << "published: " << published;
  EXPECT_GE(mean, published);
}

}  // namespace
}  // namespace kerf::agents
