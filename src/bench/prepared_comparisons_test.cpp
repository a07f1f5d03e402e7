#include "bench/prepared_comparisons.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.hpp"
#include "bench/bench_fixture.hpp"
#include "pytorch/scripted_server.hpp"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::milliseconds;

/// A bridge that does what kerf_bridge/compare.py does with a comparison that is prepared, without PyTorch.
struct PreparedComparisonsTest : ::testing::Test {
  PreparedComparisonsTest() {
    test::put(folder.path / "python3", "#!/bin/sh\n");
    ::chmod((folder.path / "python3").c_str(), 0755);
    test::put(folder.path / "model.py", "");
    sandbox.play = [this](const json& asked) {
      const fs::path wait_for = asked["request"]["wait_for"].get<std::string>();
      ++prepared;
      if (dies) return json{{"exit_code", 0}, {"signal", 9}};
      while (hangs || !fs::exists(wait_for)) {
        if (sandbox.cancelled(wait_for.string())) return json{{"exit_code", 0}, {"signal", 9}};
        std::this_thread::sleep_for(milliseconds(1));
      }
      told = json::parse(read_file(wait_for).value());
      fs::remove(wait_for);
      pytorch::Comparison answer;
      answer.torch = told.value("kernel", "");
      EXPECT_TRUE(write_file_atomic(asked["answer"].get<std::string>(), pytorch::to_json(answer)));
      return json{{"exit_code", 0}};
    };
    auto started = pytorch::BridgeServer::start({{"KERF_PYTHON", (folder.path / "python3").string()}}, sandbox);
    EXPECT_TRUE(started) << started.error().message;
    server = *std::move(started);
    request.model = folder.path / "model.py";
    request.device = "cuda";
    request.kernel = "/some/solution.py";
    request.timing = milliseconds(1500);
  }
  test::TempFolder folder;
  pytorch::test::ScriptedServer sandbox;
  std::unique_ptr<pytorch::BridgeServer> server;
  pytorch::CompareRequest request;
  std::atomic<int> prepared{0};
  std::atomic<bool> dies{false}, hangs{false}, stop{false};
  json told;  // before the answer is written
};

TEST_F(PreparedComparisonsTest, GoOnWithTheKernelThatWasFound) {
  PreparedComparisons comparisons(*server);
  comparisons.begin("1/1", request);
  comparisons.begin("1/1", request);  // it is there already
  const auto comparison = comparisons.finish("1/1", request, stop).comparison;
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->torch, "/some/solution.py");
  EXPECT_DOUBLE_EQ(told["timing_s"].get<double>(), 1.5);
  EXPECT_EQ(prepared, 1);
  EXPECT_FALSE(comparisons.finish("1/1", request, stop).comparison) << "each is had once";
  EXPECT_FALSE(comparisons.finish("1/2", request, stop).comparison) << "it never was begun";
}

TEST_F(PreparedComparisonsTest, OneThatEndedBeforeItsKernelCameIsNone) {
  dies = true;
  PreparedComparisons comparisons(*server);
  comparisons.begin("1/1", request);
  while (prepared == 0) std::this_thread::sleep_for(milliseconds(1));
  const Finished finished = comparisons.finish("1/1", request, stop);
  EXPECT_FALSE(finished.comparison);
  EXPECT_FALSE(finished.timed_out);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()), 2)
      << "nothing is left behind";
}

TEST_F(PreparedComparisonsTest, OneThatHangsIsEndedByTheTimeLimit) {
  hangs = true;
  request.time_limit = milliseconds(100);
  PreparedComparisons comparisons(*server);
  comparisons.begin("1/1", request);
  const Finished finished = comparisons.finish("1/1", request, stop);
  EXPECT_FALSE(finished.comparison);
  EXPECT_TRUE(finished.timed_out);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()), 2)
      << "nothing is left behind";
}

TEST_F(PreparedComparisonsTest, OneThatHangsIsEndedWhenTheUserStops) {
  hangs = stop = true;
  PreparedComparisons comparisons(*server);
  comparisons.begin("1/1", request);
  EXPECT_FALSE(comparisons.finish("1/1", request, stop).timed_out);
}

TEST_F(PreparedComparisonsTest, ThoseThatNobodyFinishesAreEndedWhateverTheyDo) {
  for (const bool hanging : {false, true}) {
    hangs = hanging;
    PreparedComparisons comparisons(*server);
    comparisons.begin("1/1", request);
  }
  EXPECT_EQ(told, json()) << "they never went on";
}

}  // namespace
}  // namespace kerf::bench
