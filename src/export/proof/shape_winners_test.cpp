#include "export/proof/shape_winners.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "report/fixture_run.hpp"
#include "run/run_view.hpp"

namespace kerf::exporting {
namespace {

namespace fs = std::filesystem;

TEST(ShapeWinners, OnlyClearlyFasterValuesOfTheSameKernelCount) {
  std::string pattern = (fs::temp_directory_path() / "kerf-winners-XXXXXX").string();
  const fs::path root = ::mkdtemp(pattern.data());
  ASSERT_TRUE(report::write_fixture_run(root / "run", {}));
  const auto run = load_run(root / "run").value();
  fs::remove_all(root);
  const Step& best = run.step(run.best);
  const auto winners = winners_by_shape(run.steps, best);
  ASSERT_EQ(winners.size(), 1u) << "on 'wide' the winner is the fastest";
  EXPECT_EQ(winners.begin()->first, "tall");
  EXPECT_EQ(winners.at("tall").at("UNROLL"), 1);
  std::vector<Step> refused = run.steps;
  for (const Step& step : run.steps) {
    if (step.number == run.best || is_confirmation(step)) continue;
    refused.push_back(step);
    refused.back().number = static_cast<std::int64_t>(refused.size());
    refused.back().stage = Stage::final;
    refused.back().parents = {step.number};
    refused.back().evaluation.outcome = Crashed{Gate::values, "signal 11"};
  }
  EXPECT_TRUE(winners_by_shape(refused, best).empty()) << "what was refused when measured again wins nowhere";
  EXPECT_TRUE(winners_by_shape({}, best).empty());
  EXPECT_TRUE(winners_by_shape({best}, best).empty());
}

}  // namespace
}  // namespace kerf::exporting
