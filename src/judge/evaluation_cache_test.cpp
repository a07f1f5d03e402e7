#include "judge/evaluation_cache.hpp"

#include <functional>
#include <set>

#include "base/file.hpp"
#include "judge/judge_fixture.hpp"

namespace kerf {
namespace {

class EvaluationCacheTest : public JudgeTest {
 protected:
  EvaluationCacheTest() { options_.cache = folder_; }
  bool cached(const Candidate& candidate, const Bindings& tunables = {}) {
    return evaluate(judge(options_), candidate, tunables).from_cache;
  }
  JudgeOptions options_;
};

TEST_F(EvaluationCacheTest, TheSameQuestionIsAnsweredFromTheCache) {
  const Candidate fine = candidate("fine", "tune: V = {1, 2}\n");
  EXPECT_FALSE(cached(fine, {{"V", 1}}));
  EXPECT_TRUE(cached(fine, {{"V", 1}}));
  EXPECT_TRUE(observer_.tiers.empty());
  EXPECT_FALSE(cached(fine, {{"V", 2}}));
  EXPECT_FALSE(cached(candidate("another one")));
  options_.use_evaluation_cache = false;
  EXPECT_FALSE(cached(fine, {{"V", 1}}));
}

TEST_F(EvaluationCacheTest, AnyOptionThatCanChangeTheAnswerAsksAnotherQuestion) {
  const Candidate fine = candidate("fine");
  ASSERT_FALSE(cached(fine));
  const std::vector<std::function<void(JudgeOptions&)>> changes{
      [](JudgeOptions& o) { o.seed = 2; },
      [](JudgeOptions& o) { o.only_shape = "large"; },
      [](JudgeOptions& o) { o.measure.min_rounds = 7; },
      [](JudgeOptions& o) { o.measure.baseline_share = 0.25; },
      [](JudgeOptions& o) { o.measure.min_baseline_rounds = 6; },
      [](JudgeOptions& o) { o.measure.min_batch *= 2; },
      [](JudgeOptions& o) { o.call_limit *= 2; },
      [](JudgeOptions& o) { o.timed_data_sets = 13; },
      [](JudgeOptions& o) { o.skip_timing = true; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    options_ = JudgeOptions{};
    options_.cache = folder_;
    changes[i](options_);
    EXPECT_FALSE(cached(fine)) << "change " << i;
    EXPECT_TRUE(cached(fine)) << "change " << i;
  }
}

TEST_F(EvaluationCacheTest, NewPeaksAndReferenceTimesAskAnotherQuestion) {
  const Candidate fine = candidate("fine");
  ASSERT_FALSE(cached(fine));
  Peaks peaks;
  peaks.rates["copy"] = 1e12;
  ASSERT_TRUE(save_peaks(folder_, device_->told, peaks));
  EXPECT_FALSE(cached(fine));
  EXPECT_TRUE(cached(fine));
  peaks.rates["copy"] = 2e12;
  ASSERT_TRUE(save_peaks(folder_, device_->told, peaks));
  EXPECT_FALSE(cached(fine));
  Judge& judge = this->judge(options_);
  judge.set_references({{"large", {{"naive", {4e5, 4e5, 4e5, 9}}}}});
  EXPECT_FALSE(evaluate(judge, fine).from_cache);
}

TEST_F(EvaluationCacheTest, ADamagedEntryIsJudgedAgain) {
  const Candidate fine = candidate("fine");
  ASSERT_FALSE(cached(fine));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "evaluations"))
    if (entry.is_regular_file()) {
      ASSERT_TRUE(write_file_atomic(entry.path(), "{"));
    }
  EXPECT_FALSE(cached(fine));
}

TEST(JudgeOptions, EveryOptionThatCountsIsPartOfTheKeyText) {
  std::set<std::string> keys;
  const auto add = [&](const auto& change) {
    JudgeOptions options;
    change(options);
    return keys.insert(key_text(options)).second;
  };
  EXPECT_TRUE(add([](JudgeOptions&) {}));
  EXPECT_TRUE(add([](JudgeOptions& o) { ++o.seed; }));
  EXPECT_TRUE(add([](JudgeOptions& o) { o.only_shape = "tail"; }));
  EXPECT_TRUE(add([](JudgeOptions& o) { ++o.measure.max_rounds; }));
  EXPECT_TRUE(add([](JudgeOptions& o) { ++o.call_limit; }));
  EXPECT_TRUE(add([](JudgeOptions& o) { ++o.timed_data_sets; }));
  EXPECT_TRUE(add([](JudgeOptions& o) { o.skip_timing = true; }));
  EXPECT_FALSE(add([](JudgeOptions& o) { o.cache = "elsewhere"; }));
  EXPECT_FALSE(add([](JudgeOptions& o) { o.use_evaluation_cache = false; }));
}

}  // namespace
}  // namespace kerf
