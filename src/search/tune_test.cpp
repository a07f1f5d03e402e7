#include "search/tune.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "judge/judge_fixture.hpp"

namespace kerf {
namespace {

/// A kernel with one tunable; FakeLanguage's artifacts say its value as "V=2\n".
class TuneTest : public JudgeTest {
 protected:
  struct Listener final : TuneObserver {
    std::vector<TuneTrial> trials;
    std::function<void(const std::string& note)> hear;
    void on_trial(const TuneTrial& trial) override { trials.push_back(trial); }
    void on_note(const std::string& text) override {
      if (hear) hear(text);
    }
  };

  TuneTest() {
    us_["V=1\n"] = 10;
    us_["V=2\n"] = 5;
    us_["V=4\n"] = 20;
    tuning_.evaluations = 6;
    tuning_.jobs = 0;
  }

  TuneReport tuned(const JudgeOptions& options = {}) {
    auto report = tune(judge(options), kernel_, tuning_, clock_, listener_);
    EXPECT_TRUE(report) << report.error().message;
    return *std::move(report);
  }

  Candidate kernel_ = candidate("tunable", "tune: V = {1, 2, 4}\n");
  TuneOptions tuning_;
  Listener listener_;
};

TEST_F(TuneTest, TheGainOverTheDefaultsIsTimedInTurn) {
  const TuneReport report = tuned();
  EXPECT_EQ(report.best, (Bindings{{"V", 2}}));
  EXPECT_EQ(report.defaults, (Bindings{{"V", 1}}));
  ASSERT_TRUE(report.gain);
  EXPECT_DOUBLE_EQ(report.gain->ratio, 2);
  ASSERT_TRUE(report.before);
  EXPECT_EQ(report.before->tunables, report.defaults);
}

TEST_F(TuneTest, ATupleThatIsSlowerThanTheDefaultsWhenTimedInTurnIsNotKept) {
  listener_.hear = [&](const std::string& note) {
    if (note.find("in turn") != std::string::npos) us_["V=2\n"] = 15;  // what made it seem fast is over
  };
  const TuneReport report = tuned();
  EXPECT_EQ(report.best, report.defaults);
  EXPECT_EQ(report.verdict.tunables, report.defaults);
  EXPECT_EQ(report.rejected, (Bindings{{"V", 2}}));
  EXPECT_FALSE(report.before);
  EXPECT_FALSE(report.gain);
}

TEST_F(TuneTest, CachedVerdictsOfAnotherSessionDoNotDecide) {
  JudgeOptions options;
  options.cache = folder_;
  us_["V=2\n"] = 50;  // on a busy day
  for (const std::int64_t value : {1, 2})
    ASSERT_TRUE(std::holds_alternative<Measurement>(evaluate(judge(options), kernel_, {{"V", value}}).outcome));
  us_["V=2\n"] = 5;
  const TuneReport report = tuned(options);
  EXPECT_EQ(report.best, (Bindings{{"V", 2}}));
  EXPECT_TRUE(report.verdict.from_cache);
  ASSERT_TRUE(report.gain);
  EXPECT_DOUBLE_EQ(report.gain->ratio, 2);
}

TEST_F(TuneTest, TuplesOfTheSameCodeAreTimedOnceAndUnusedTunablesAreNamed) {
  kernel_ = candidate("tunable", "tune: V = {1, 2, 4}\ntune: UNUSED = {1, 2, 3, 4, 5}\n");
  tuning_.evaluations = 60;
  language_->script = [this](const CompileRequest& request) -> std::optional<CompileOutcome> {
    CompileRequest used = request;
    used.constants.erase("UNUSED");
    return language_->artifact(used);
  };
  const TuneReport report = tuned();
  EXPECT_EQ(report.unused, (std::vector<std::string>{"UNUSED"}));
  EXPECT_EQ(report.table.size(), 3u);
  EXPECT_EQ(report.known_code, 12);
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.best.at("V"), 2);
  std::set<std::int64_t> timed;
  for (const TuneTrial& trial : listener_.trials)
    EXPECT_TRUE(trial.timings > 1 || timed.insert(trial.tunables.at("V")).second);
  EXPECT_EQ(timed.size(), 3u);
}

TEST_F(TuneTest, ATunableThatMattersSomewhereIsNotCalledUnused) {
  kernel_ = candidate("tunable", "tune: V = {1, 2, 4}\ntune: W = {1, 2}\n");
  tuning_.evaluations = 60;
  language_->script = [this](const CompileRequest& request) -> std::optional<CompileOutcome> {
    CompileRequest used = request;
    if (used.constants.contains("V") && used.constants.at("V") != 4) used.constants.erase("W");
    return language_->artifact(used);
  };
  const TuneReport report = tuned();
  EXPECT_TRUE(report.unused.empty());
  EXPECT_EQ(report.table.size(), 4u);
  EXPECT_EQ(report.known_code, 2);
}

TEST_F(TuneTest, RecordsRankTuplesAsTheTuningDid) {
  drift_us_ = 0.5;  // so that quartile and median differ
  (void)tuned();
  ASSERT_FALSE(listener_.trials.empty());
  for (const TuneTrial& trial : listener_.trials) {
    const auto back = evaluation_from_json(to_json(to_record(trial, Evaluation{})));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_NEAR(std::exp(ranking_log_us(std::get<Measurement>(back->outcome))), trial.score_us, 1e-9);
    EXPECT_LT(trial.score_us, trial.time.median);
  }
}

TEST(Ranking, RecordsOfEarlierVersionsAreRankedByTheirMedian) {
  Measurement record;
  record.shapes.resize(1);
  record.shapes[0].time = {8, 7, 9, 5};
  EXPECT_DOUBLE_EQ(ranking_log_us(record), std::log(8));
  record.shapes[0].time.lower_quartile = 7.5;
  EXPECT_DOUBLE_EQ(ranking_log_us(record), std::log(7.5));
}

}  // namespace
}  // namespace kerf
