#include "search/tune_space.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kerf {
namespace {

Candidate candidate(const std::string& header) {
  return parse_candidate("k.cl", "/* kerf\n" + header + "*/\n").value();
}

DeviceFacts facts() {
  DeviceFacts facts;
  facts.max_threads_per_block = 256;
  facts.max_shared_bytes = 4096;
  return facts;
}

const std::vector<ShapeSet> kShapes{{"small", {{"n", 12}}, 0, {}}, {"large", {{"n", 64}}, 1, {}}};

TEST(TuneSpace, KeepsTuplesWhoseRequirementsHoldForEveryShape) {
  const auto space =
      TuneSpace::make(candidate("tune: B = {8, 4, 3}\ntune: V = {1, 2}\nrequire: n % B == 0\n"), kShapes, facts());
  ASSERT_TRUE(space);
  const auto points = space->enumerate(100);
  ASSERT_TRUE(points);
  std::set<std::int64_t> blocks;
  for (const auto& point : *points) blocks.insert(space->bindings(point).at("B"));
  EXPECT_EQ(blocks, (std::set<std::int64_t>{4})) << "12 takes 3 and 4, 64 takes 4 and 8";
  EXPECT_EQ(points->size(), 2U);
  EXPECT_EQ(space->tuples(), 6);
  EXPECT_FALSE(space->enumerate(5)) << "more tuples than the limit";
  EXPECT_NE(space->refusal(space->defaults()).find("n % B == 0 does not hold for shape 'small'"), std::string::npos);
}

TEST(TuneSpace, RefusesLaunchesTheDeviceCannotMake) {
  const auto space = TuneSpace::make(candidate("tune: B = {64, 256, 512}\ntune: S = {16, 32}\n"
                                               "launch: f<<<n, B, B*S>>>(x, y)\n"),
                                     kShapes, facts());
  const auto refusal = [&](std::int64_t b, std::int64_t s) {
    return space->refusal(space->point({{"B", b}, {"S", s}}));
  };
  EXPECT_EQ(refusal(64, 32), "");
  EXPECT_NE(refusal(512, 16).find("512 work items per group, the device takes 256"), std::string::npos);
  EXPECT_NE(refusal(256, 32).find("8192 bytes of shared memory, the device has 4096"), std::string::npos);
  EXPECT_EQ(refusal(256, 16), "");
}

TEST(TuneSpace, NeighboursDifferByOneStepAndAreAllowed) {
  const auto space =
      TuneSpace::make(candidate("tune: A = {4, 1, 2}\ntune: B = {1, 2, 4}\nrequire: A * B <= 4\n"), kShapes, facts());
  const auto neighbours = space->neighbours(space->point({{"A", 2}, {"B", 2}}));
  std::set<std::pair<std::int64_t, std::int64_t>> found;
  for (const auto& point : neighbours) found.insert({space->bindings(point).at("A"), space->bindings(point).at("B")});
  EXPECT_EQ(found, (std::set<std::pair<std::int64_t, std::int64_t>>{{1, 2}, {2, 1}}));
  EXPECT_EQ(space->bindings(space->defaults()), (Bindings{{"A", 4}, {"B", 1}}))
      << "the first values, though 4 is the largest";
}

TEST(TuneSpace, DrawsAllowedTuplesOfSpacesTooLargeToList) {
  std::string header;
  for (int i = 0; i < 12; ++i) header += "tune: T" + std::to_string(i) + " = {1, 2, 3, 4, 5, 6, 7, 8}\n";
  const auto space = TuneSpace::make(candidate(header + "require: T0 == T1\n"), kShapes, facts());
  EXPECT_FALSE(space->enumerate(1e6));
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    const auto point = space->draw(rng);
    ASSERT_TRUE(point);
    EXPECT_EQ((*point)[0], (*point)[1]);
  }
  EXPECT_FALSE(TuneSpace::make(candidate("target: opencl\n"), kShapes, facts())) << "nothing to tune";
}

}  // namespace
}  // namespace kerf
