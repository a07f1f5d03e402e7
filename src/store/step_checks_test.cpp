#include "store/step_checks.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>

#include "base/hash.hpp"
#include "store/database.hpp"
#include "store/run_store.hpp"

namespace kerf::store {
namespace {

namespace fs = std::filesystem;

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

std::vector<Step> family() {
  std::vector<Step> steps(3);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].number = static_cast<std::int64_t>(i) + 1;
    if (i > 0) steps[i].parents = {static_cast<std::int64_t>(i)};
    Measurement measurement;
    measurement.speedup = {"naive", 2, 1.9, 2.1};
    measurement.shapes = {{"a", 1, {5, 4, 6, 9}, {}, {{"naive", measurement.speedup}}, std::nullopt}};
    steps[i].evaluation.outcome = measurement;
    steps[i].cell = {1, 0, 3};
    steps[i].source = "kernel";
    steps[i].evaluation.candidate_id = sha256_hex(steps[i].source);
  }
  return steps;
}

std::string refusal(const std::vector<Step>& steps) {
  const Status status = check_steps(steps, "runs/x");
  if (status) return "accepted";
  EXPECT_EQ(status.error().code, Errc::invalid_input);
  return status.error().message;
}

TEST(CheckSteps, AcceptsAFamilyAndFiguresThatWereNotMeasured) {
  auto steps = family();
  EXPECT_EQ(refusal(steps), "accepted");
  std::get<Measurement>(steps[1].evaluation.outcome).speedup.ratio = std::nan("");
  EXPECT_EQ(refusal(steps), "accepted");
}

TEST(CheckSteps, TunedKernelsOfOlderVersionsMayHaveTheirParentsId) {
  auto steps = family();
  steps[1].source = "kernel with other defaults";
  EXPECT_HAS(refusal(steps), "step 2 has another source than the one that was judged");
  steps[1].stage = Stage::tune;
  EXPECT_EQ(refusal(steps), "accepted");
}

TEST(CheckSteps, NumbersHaveNoGaps) {
  auto steps = family();
  steps[2].number = 7;
  EXPECT_HAS(refusal(steps), "the run runs/x is damaged: there is a step 7 where step 3 is expected");
  steps[0].number = -1;
  EXPECT_HAS(refusal(steps), "a step -1");
}

TEST(CheckSteps, NamedStepsAreEarlierOnes) {
  for (const std::int64_t parent : {3, 4, 99, 0, -1}) {
    auto steps = family();
    steps[2].parents = {parent};
    EXPECT_HAS(refusal(steps), "step 3 names step " + std::to_string(parent) + " as a parent");
  }
  auto steps = family();
  steps[0].parents = {3};
  EXPECT_HAS(refusal(steps), "step 1 names step 3") << "a circle";
  steps = family();
  steps[1].asked.parent = 2;
  EXPECT_HAS(refusal(steps), "was asked for from step 2");
  steps = family();
  steps[1].asked.failures = {-5};
  EXPECT_HAS(refusal(steps), "was shown step -5");
  steps = family();
  std::get<Measurement>(steps[1].evaluation.outcome).comparison = PairedComparison{9, 1, 1, 1, 1};
  EXPECT_HAS(refusal(steps), "was compared with step 9");
}

TEST(CheckSteps, FiguresAreNotNegative) {
  auto steps = family();
  std::get<Measurement>(steps[1].evaluation.outcome).shapes[0].time.low = -1;
  EXPECT_HAS(refusal(steps), "step 2 has impossible figures");
  steps = family();
  std::get<Measurement>(steps[2].evaluation.outcome).speedup.ratio = -3;
  EXPECT_HAS(refusal(steps), "step 3 has impossible figures");
  steps = family();
  steps[1].cell = {-1, 0, 0};
  EXPECT_HAS(refusal(steps), "impossible cell");
  steps = family();
  steps[1].seconds = -1;
  EXPECT_HAS(refusal(steps), "negative time");
}

/// A run whose database was changed by hand.
class DamagedRun : public testing::Test {
 protected:
  DamagedRun() {
    std::string pattern = (fs::temp_directory_path() / "kerf-damaged-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    const auto store = create_run_store(root_ / "run").value();
    for (const Step& step : family()) EXPECT_TRUE(store->append(step));
  }
  ~DamagedRun() override { fs::remove_all(root_); }

  std::string after(const std::string& sql) {
    {
      auto database = Database::open(root_ / "run" / "kerf.db", Database::Mode::write).value();
      const Status changed =
          database.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; " + sql);
      EXPECT_TRUE(changed) << changed.error().message;
    }
    const auto steps = open_run_store(root_ / "run", RunStore::Access::read).value()->steps();
    if (steps) return "accepted";
    EXPECT_EQ(steps.error().code, Errc::invalid_input);
    return steps.error().message;
  }

  fs::path root_;
};

TEST_F(DamagedRun, ParentsThatAreMissingOrNoNumbersAreNamed) {
  EXPECT_HAS(after("UPDATE parents SET parent = 3 WHERE step = 2"), "step 2 names step 3 as a parent");
  EXPECT_HAS(after("UPDATE parents SET parent = 'x' WHERE step = 2"), "step 2 has the parent 'x'");
}

TEST_F(DamagedRun, ARemovedStepIsNamed) {
  EXPECT_HAS(after("DELETE FROM steps WHERE number = 2"), "step 2 is expected");
}

TEST_F(DamagedRun, AKernelThatWasNotJudgedIsNamed) {
  EXPECT_HAS(after("UPDATE steps SET source = 'kernel ' WHERE number = 2"), "step 2 has another source");
  const auto run = open_run_store(root_ / "run", RunStore::Access::read).value();
  EXPECT_TRUE(run->step(1));
  EXPECT_FALSE(run->step(2));
}

TEST_F(DamagedRun, WrongJsonIsNamed) {
  EXPECT_HAS(after("UPDATE steps SET evaluation = '{' WHERE number = 2"), "is damaged: step 2");
  EXPECT_HAS(after("UPDATE steps SET evaluation = '[1]', cell = '[[' WHERE number = 2"), "is damaged: step 2");
  EXPECT_HAS(after("UPDATE steps SET tunables = 'null' WHERE number = 1"), "is damaged: step 1");
}

TEST_F(DamagedRun, AFileThatIsNoDatabaseIsBadInput) {
  fs::resize_file(root_ / "run" / "kerf.db", 0);
  std::error_code error;
  fs::remove(root_ / "run" / "kerf.db-wal", error);
  const auto empty = open_run_store(root_ / "run", RunStore::Access::read);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Errc::invalid_input);
}

}  // namespace
}  // namespace kerf::store
