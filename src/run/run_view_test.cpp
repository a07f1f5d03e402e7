#include "run/run_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/fixture_run.hpp"
#include "run/run_config.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

class RunViewTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string pattern = (fs::temp_directory_path() / "kerf-view-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    ASSERT_TRUE(report::write_fixture_run(root_ / "run", {}));
    run_ = new RunView(load_run(root_ / "run").value());
  }
  static void TearDownTestSuite() {
    delete run_;
    fs::remove_all(root_);
  }
  static inline fs::path root_;
  static inline RunView* run_ = nullptr;
};

TEST_F(RunViewTest, TheBestIsTheOneTheRunNamed) {
  EXPECT_EQ(run_->best, 120);
  EXPECT_EQ(std::to_string(run_->best), run_->fact("best_step"));
  EXPECT_EQ(run_->fact("no such fact"), "");
}

TEST_F(RunViewTest, TheReplayedArchiveAgreesWithWhatWasStored) {
  for (const Elite& elite : run_->archive.elites()) EXPECT_TRUE(run_->step(elite.step).kept) << elite.step;
  EXPECT_GT(run_->archive.elites().size(), 5u);
}

TEST_F(RunViewTest, TheArchiveIsReplayedWithTheOptionsOfTheRun) {
  const fs::path folder = root_ / "other";
  fs::copy(root_ / "run", folder, fs::copy_options::recursive);
  RunConfig config;
  config.search.archive.keep = 1;
  {
    const auto store = open_run_store(folder, RunStore::Access::write).value();
    ASSERT_TRUE(store->set("config", to_toml(config, "rmsnorm")));
  }
  std::size_t most = 0;
  for (const auto& [cell, elites] : run_->archive.cells()) most = std::max(most, elites.size());
  EXPECT_GT(most, 1u);
  const auto other = load_run(folder).value();
  for (const auto& [cell, elites] : other.archive.cells()) EXPECT_EQ(elites.size(), 1u);
}

TEST_F(RunViewTest, StepsAreFoundByNumberByKernelAndByName) {
  EXPECT_EQ(find_step(*run_, "7").value(), 7);
  EXPECT_EQ(find_step(*run_, "best").value(), run_->best);
  const Step& best = run_->step(run_->best);
  const auto found = find_step(*run_, best.evaluation.candidate_id.substr(0, 12)).value();
  EXPECT_EQ(run_->step(found).source, best.source);
  EXPECT_EQ(find_step(*run_, "0").error().code, Errc::not_found);
  EXPECT_NE(find_step(*run_, "121").error().message.find("1 to 120"), std::string::npos);
  EXPECT_FALSE(find_step(*run_, "zzzz"));
  EXPECT_FALSE(find_step(*run_, ""));
}

TEST_F(RunViewTest, CellsAreExplainedPerDimension) {
  const auto reasons = reasons_of(run_->step(run_->best));
  ASSERT_EQ(reasons.size(), 3u);
  EXPECT_EQ(reasons[0], "memory 3: 32-byte loads");
  Step odd;
  odd.descriptors = "no JSON";
  EXPECT_TRUE(reasons_of(odd).empty());
}

TEST_F(RunViewTest, TheFunnelNarrowsAndAccountsForEveryStep) {
  const auto funnel = funnel_of(*run_);
  const auto again = std::ranges::count_if(run_->steps, is_confirmation);
  ASSERT_GT(again, 0);
  EXPECT_EQ(funnel.front().count, 120u - static_cast<std::size_t>(again)) << "a kernel measured again is no new one";
  for (std::size_t i = 1; i < funnel.size(); ++i) EXPECT_LE(funnel[i].count, funnel[i - 1].count) << funnel[i].name;
  std::size_t kept = 0, measured = 0;
  for (const Step& step : run_->steps) {
    if (is_confirmation(step)) continue;
    kept += step.kept ? 1u : 0u;
    measured += measurement_of(step) != nullptr ? 1u : 0u;
  }
  EXPECT_EQ(funnel[6].count, kept);
  EXPECT_EQ(funnel[5].count, measured);
  EXPECT_NE(funnel[2].lost.find("rejected (duplicate)"), std::string::npos);
  EXPECT_NE(funnel[3].lost.find("wrong result (values)"), std::string::npos);
}

TEST_F(RunViewTest, AKernelKnownByItsTextWasNotCompiled) {
  RunView run;
  run.steps.resize(2);
  for (std::int64_t i = 0; i < 2; ++i) {
    run.steps[static_cast<std::size_t>(i)].number = i + 1;
    run.steps[static_cast<std::size_t>(i)].evaluation.outcome = Rejected{Gate::duplicate, "known"};
  }
  run.steps[1].descriptors = "{}";  // its compiled code was looked at
  const auto funnel = funnel_of(run);
  EXPECT_EQ(funnel[1].count, 2u);
  EXPECT_EQ(funnel[2].count, 1u);
}

TEST_F(RunViewTest, OperationsDoNotCountKernelsThatAreMeasuredAgain) {
  for (const Tally& one : tally_operations(*run_)) EXPECT_EQ(one.name.find("confirm"), std::string::npos) << one.name;
}

TEST_F(RunViewTest, TheLineageStartsAtAStartAndEndsAtTheWinner) {
  const auto line = lineage_of(*run_, run_->best);
  EXPECT_TRUE(run_->step(line.front()).parents.empty());
  EXPECT_EQ(line.back(), run_->best);
  for (std::size_t i = 1; i < line.size(); ++i) EXPECT_EQ(run_->step(line[i]).parents[0], line[i - 1]);
  EXPECT_GE(ancestors_of(*run_, run_->best).size(), line.size());
}

TEST_F(RunViewTest, TurningPointsRiseToTheFastest) {
  const auto points = turning_points(*run_);
  ASSERT_GT(points.size(), 2u);
  EXPECT_EQ(points.front().gain, 1);
  for (std::size_t i = 1; i < points.size(); ++i) EXPECT_GT(points[i].gain, 1);
  EXPECT_EQ(points.back().step, run_->step(run_->best).parents.at(0)) << "the winner is that one, measured again";
}

TEST_F(RunViewTest, ModelsAreTalliedByWhatTheyGaveAndTook) {
  EXPECT_TRUE(tally_models(*run_).empty());
  RunView run = *run_;
  for (const std::size_t at : {std::size_t{3}, std::size_t{5}})
    run.steps[at].provenance = {"m", "p", {}, 100, 20, 0.5, 2};
  run.steps[5].evaluation.outcome = Rejected{Gate::parse, "no kernel"};
  const auto models = tally_models(run);
  ASSERT_EQ(models.size(), 1u);
  EXPECT_EQ(models[0].answers, 2u);
  EXPECT_EQ(models[0].kernels, 1u);
  EXPECT_EQ(models[0].tokens, 240);
  EXPECT_EQ(models[0].cost_usd, 1.0);
}

TEST_F(RunViewTest, TalliesCountEveryStepOnce) {
  std::size_t tried = 0;
  for (const auto& one : tally_operations(*run_)) {
    tried += one.tried;
    EXPECT_LE(one.measured, one.tried);
    EXPECT_LE(one.best, one.measured);
  }
  EXPECT_EQ(tried, run_->steps.size() - static_cast<std::size_t>(std::ranges::count_if(run_->steps, is_confirmation)));
  for (const auto& one : tally_directions(*run_)) EXPECT_LE(one.reached, one.measured) << one.name;
}

}  // namespace
}  // namespace kerf
