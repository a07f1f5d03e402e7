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
  EXPECT_TRUE(winners_by_shape({}, best).empty());
  EXPECT_TRUE(winners_by_shape({best}, best).empty());
}

}  // namespace
}  // namespace kerf::exporting
