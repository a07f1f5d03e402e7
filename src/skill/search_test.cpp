#include "skill/search.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kerf::skill {
namespace {

using Words = std::vector<std::string>;

TEST(Tokens, CodeIsSplitAtPunctuationAndCase) {
  EXPECT_EQ(tokens("rowSum_f32(HTTPServer->x, __shfl_xor_sync)"),
            (Words{"row", "sum", "f32", "http", "server", "shfl", "xor", "sync"}));
  EXPECT_EQ(tokens("LANES=64; a+b"), (Words{"lanes", "64"}));
  EXPECT_TRUE(tokens("").empty());
}

TEST(Bm25, ScoresAreThoseOfTheFormula) {
  const Bm25 index({"alpha beta beta", "beta gamma", "delta"});
  const auto scores = index.scores("beta alpha alpha");
  const double mean = 2.0, idf_beta = std::log(1 + (3 - 2 + 0.5) / 2.5), idf_alpha = std::log(1 + (3 - 1 + 0.5) / 1.5);
  const auto part = [&](double idf, double count, double length) {
    return idf * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * length / mean));
  };
  EXPECT_NEAR(scores[0], part(idf_beta, 2, 3) + part(idf_alpha, 1, 3), 1e-12);
  EXPECT_NEAR(scores[1], part(idf_beta, 1, 2), 1e-12);
  EXPECT_EQ(scores[2], 0);
}

TEST(Bm25, AWordThatAllDocumentsHaveStillCountsABit) {
  const Bm25 index({"kernel row", "kernel column"});
  for (const double score : index.scores("kernel")) EXPECT_GT(score, 0);
}

Skill named(const std::string& name, const std::string& idea) {
  Skill skill;
  skill.name = name;
  skill.description = idea;
  skill.key_idea = idea;
  skill.id = skill_id(skill);
  return skill;
}

TEST(FindSkills, TheOneAboutItComesFirst) {
  const std::vector<Skill> all{named("tiles", "matmul in register tiles"), named("rows", "softmax row by row"),
                               named("stream", "streaming stores")};
  const auto found = find_skills(all, "y = softmax(x, axis=-1) over each row", 20);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].skill->name, "rows");
  EXPECT_TRUE(find_skills(all, "nothing of that kind", 20).empty());
  EXPECT_EQ(find_skills(all, "matmul softmax stores", 2).size(), 2u);
}

TEST(Likeness, IsOneForTheSameAndSmallForOthers) {
  const Skill a = named("a", "one two three four"), b = named("b", "five six seven");
  EXPECT_EQ(likeness(a, a), 1);
  EXPECT_LT(likeness(a, b), 0.4);
}

}  // namespace
}  // namespace kerf::skill
