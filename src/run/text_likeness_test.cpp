#include "run/text_likeness.hpp"

#include <gtest/gtest.h>

#include <map>

#include "memory/fake_memory_store.hpp"
#include "memory/memory_fixture.hpp"
#include "memory/retrieve.hpp"

namespace kerf {
namespace {

/// Two texts are alike when they begin with the same letter.
class LetterModel final : public llm::EmbeddingModel {
 public:
  bool fails = false;
  std::size_t asked = 0, questions = 0;
  const std::string& name() const override { return name_; }
  Result<std::vector<std::vector<float>>> embed(const std::vector<std::string>& texts) override {
    ++questions;
    asked += texts.size();
    if (fails) return fail(Errc::unavailable, "out of order");
    std::vector<std::vector<float>> vectors;
    for (const std::string& one : texts) {
      std::vector<float> vector(256, 0);
      vector[one.empty() ? 0 : static_cast<unsigned char>(one[0])] = 1;
      vectors.push_back(std::move(vector));
    }
    return vectors;
  }

 private:
  std::string name_ = "letters";
};

class MapCache final : public EmbeddingCache {
 public:
  Result<std::optional<std::vector<float>>> find(const std::string& model, const std::string& text) const override {
    const auto found = all.find({model, text});
    return found == all.end() ? std::nullopt : std::optional(found->second);
  }
  Status keep(const std::string& model,
              const std::vector<std::pair<std::string, std::vector<float>>>& vectors) override {
    for (const auto& [text, vector] : vectors) all[{model, text}] = vector;
    return {};
  }
  std::map<std::pair<std::string, std::string>, std::vector<float>> all;
};

TEST(TextLikeness, EachTextIsAskedForOnce) {
  LetterModel model;
  MapCache cache;
  TextLikeness likeness(model, "here letters", &cache);
  EXPECT_EQ(likeness.to("ab", {"ac", "bc", "ac"}), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(model.asked, 3u);
  TextLikeness later(model, "here letters", &cache);
  EXPECT_EQ(later.to("ac", {"bc", "new"}), (std::vector<double>{0, 0}));
  EXPECT_EQ(model.asked, 4u);
  TextLikeness other(model, "there letters", &cache);
  (void)other.to("ac", {"bc"});
  EXPECT_EQ(model.asked, 6u) << "another model's vectors are others";
}

TEST(TextLikeness, AModelThatFailsIsAskedNoMoreAndSaysWhy) {
  LetterModel model;
  model.fails = true;
  TextLikeness likeness(model, "m", nullptr);
  EXPECT_TRUE(likeness.to("a", {"b"}).empty());
  EXPECT_TRUE(likeness.to("a", {"c"}).empty());
  EXPECT_EQ(model.questions, 1u);
  EXPECT_EQ(likeness.problem(), "out of order");
}

TEST(TextLikeness, AProblemIsToldOnce) {
  LetterModel model;
  model.fails = true;
  TextLikeness likeness(model, "m", nullptr);
  EXPECT_EQ(likeness.untold_problem(), "");
  (void)likeness.to("a", {"b"});
  EXPECT_EQ(likeness.untold_problem(), "out of order");
  EXPECT_EQ(likeness.untold_problem(), "");
}

TEST(TextLikeness, MovesWhatIsRetrieved) {
  FakeMemoryStore store;
  const Task near_task = memory::made_up_task("near", "softmax(x)"),
             far_task = memory::made_up_task("far", "softmax(x)");
  const memory::Experience near = memory::made_up_kernel(near_task, "rows", 8, 0.9);
  const memory::Experience far = memory::made_up_kernel(far_task, "rows", 8, 0.9);
  const memory::TaskSignature task = near.signature;
  ASSERT_TRUE(store.add({near, far}));
  LetterModel model;
  TextLikeness likeness(model, "m", nullptr);
  const auto similarities = text_similarities(store, task, likeness);
  EXPECT_EQ(similarities.size(), 2u);
  const std::vector<memory::Experience> known{near, far};
  const auto first = [&](const memory::TextSimilarity& by_text) {
    return memory::most_similar(task, known, 1, 0, by_text).front().second->task_id;
  };
  EXPECT_EQ(first({{near.task_id, 1.0}, {far.task_id, 0.0}}), near.task_id);
  EXPECT_EQ(first({{near.task_id, 0.0}, {far.task_id, 1.0}}), far.task_id);
  EXPECT_NEAR(memory::similarity_to(task, near, {}), memory::similarity(task, near.signature), 1e-12)
      << "without a model nothing changes";
}

}  // namespace
}  // namespace kerf
