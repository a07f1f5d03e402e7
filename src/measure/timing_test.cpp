#include "measure/timing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "device/fake_bench.hpp"

namespace kerf {
namespace {

class TimingTest : public testing::Test {
 protected:
  TimingTest() : bench_(ProblemLayout{{{"x", DType::f32, {4}, BufferRole::input}}, 8}) {
    data_.inputs = {ir::make_tensor(DType::f32, {4})};
  }

  TimingResult measure(const MeasureOptions& options, std::size_t kernels = 2) {
    std::vector<TimedKernel> list;
    for (std::size_t k = 0; k < kernels; ++k)
      list.push_back({k == 0 ? "candidate" : "naive", static_cast<int>(k), 0, {}});
    if (kernels > 1) list[1].known = known_;
    Rng rng(1);
    const CheckSlot check = [&](std::size_t, int, const oracle::DataSet& data, const SlotReport&) -> Result<bool> {
      return ++checks_ != refuse_at_ && !(refuse_unusual_ && data.unusual);
    };
    for (auto& data : more_)
      if (data.inputs.empty()) data.inputs = data_.inputs;
    std::vector<const oracle::DataSet*> sets{&data_};
    for (auto& data : more_) sets.push_back(&data);
    if (reloadable_) list[0].reload = [this]() -> Result<KernelHandle> { return ++reloads_, KernelHandle{0}; };
    auto result = time_kernels(bench_, 8, list, sets, options, rng, clock_, check);
    EXPECT_TRUE(result) << result.error().message;
    return *std::move(result);
  }

  FakeBench bench_;
  oracle::DataSet data_;
  std::vector<oracle::DataSet> more_{3};
  bool reloadable_ = false;
  std::optional<TimeEstimate> known_;  // of the first baseline
  int reloads_ = 0;
  FakeClock clock_;
  int checks_ = 0, refuse_at_ = -1;
  bool refuse_unusual_ = false;
};

TEST_F(TimingTest, TheRatioOfSteadyKernelsIsExact) {
  bench_.kernels = {{nullptr, 10, std::nullopt, 0}, {nullptr, 40, std::nullopt, 0}};
  const TimingResult result = measure({});
  const Speedup speedup = speedup_of(result.kernels[0], result.kernels[1], Rng(1));
  EXPECT_DOUBLE_EQ(speedup.ratio, 4);
  EXPECT_DOUBLE_EQ(speedup.low, 4);
  EXPECT_EQ(speedup.vs, "naive");
}

TEST_F(TimingTest, EveryTimedCallIsChecked) {
  bench_.kernels = {{nullptr, 10, std::nullopt, 0}, {nullptr, 40, std::nullopt, 0}};
  (void)measure({});
  EXPECT_EQ(checks_, bench_.kernels[0].calls + bench_.kernels[1].calls);
  EXPECT_GT(checks_, 10);
}

TEST_F(TimingTest, ARefusedCheckEndsTheMeasurement) {
  bench_.kernels = {{nullptr, 10, std::nullopt, 0}};
  refuse_at_ = 3;
  EXPECT_EQ(measure({}, 1).refused, "candidate");
  EXPECT_EQ(checks_, 3);
}

TEST_F(TimingTest, SlotsThatAreNotTimedAreStagedLastSoThatTheyFlushTheCache) {
  std::vector<std::size_t> staged_before;  // each call
  const auto body = [&](FakeBuffers&) { staged_before.push_back(bench_.staged.size()); };
  bench_.kernels = {{body, 400, std::nullopt, 0}};
  MeasureOptions options;
  options.min_rounds = options.max_rounds = 1;
  (void)measure(options, 1);
  // The warm-up runs on one slot, the round on three (they make up the shortest batch); both stage all eight.
  ASSERT_EQ(bench_.ran.size(), 1U + 3U);
  ASSERT_EQ(bench_.staged.size(), 16U);
  const auto slots = [](const std::vector<int>& list, std::size_t from, std::size_t count) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(from);
    return std::set<int>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  EXPECT_EQ(bench_.staged[0], bench_.ran[0]);
  EXPECT_EQ(slots(bench_.staged, 8, 3), slots(bench_.ran, 1, 3));
  EXPECT_EQ(slots(bench_.staged, 0, 8).size(), 8U);
  EXPECT_EQ(slots(bench_.staged, 8, 8).size(), 8U);
  EXPECT_EQ(staged_before, (std::vector<std::size_t>{8, 16, 16, 16}));  // no call before all slots are staged
}

TEST_F(TimingTest, ASlowBaselineIsLeftOutOnceItHasItsShareOfTheTime) {
  bench_.kernels = {{nullptr, 1e4, std::nullopt, 0}, {nullptr, 1e5, std::nullopt, 0}};
  MeasureOptions options;
  options.target_noise = -1;  // never precise enough: all rounds run
  options.max_rounds = 30;
  const TimingResult result = measure(options);
  EXPECT_EQ(estimate(result.kernels[0].us).samples, 30);
  EXPECT_EQ(estimate(result.kernels[1].us).samples, options.min_baseline_rounds);
}

TEST_F(TimingTest, SeveralBaselinesShareTheTimeThatOneWouldHave) {
  bench_.kernels = {{nullptr, 1e4, std::nullopt, 0}, {nullptr, 1e4, std::nullopt, 0}, {nullptr, 1e4, std::nullopt, 0}};
  MeasureOptions options;
  options.target_noise = -1;
  options.max_rounds = 60;
  const TimingResult result = measure(options, 3);
  EXPECT_EQ(estimate(result.kernels[0].us).samples, 60);
  for (const std::size_t k : {1U, 2U})
    EXPECT_LE(estimate(result.kernels[k].us).samples, 32);  // a quarter of 120 and one
}

TEST_F(TimingTest, AVerySlowBaselineIsContentWithTwoSamples) {
  bench_.kernels = {{nullptr, 5e5, std::nullopt, 0}, {nullptr, 5e6, std::nullopt, 0}};
  MeasureOptions options;
  options.target_noise = -1;
  options.max_rounds = 10;
  const TimingResult result = measure(options);
  EXPECT_EQ(estimate(result.kernels[1].us).samples, 2);
}

TEST_F(TimingTest, ABaselineThatTakesTwentyTimesTheCandidateIsTimedOnce) {
  bench_.kernels = {{nullptr, 10, std::nullopt, 0}, {nullptr, 210, std::nullopt, 0}};
  MeasureOptions options;
  options.target_noise = -1;
  options.max_rounds = 10;
  EXPECT_EQ(estimate(measure(options).kernels[1].us).samples, 1);
  bench_.kernels[1].us = 190;
  EXPECT_EQ(estimate(measure(options).kernels[1].us).samples, options.min_baseline_rounds);
}

TEST_F(TimingTest, ABaselineWhoseTimeIsKnownIsTimedOnceWhereItIsWellSlowerAndTakesAsLongAgain) {
  MeasureOptions options;
  options.max_rounds = 10;
  const auto samples = [&](double candidate_us, double known_us) {
    bench_.kernels = {{nullptr, candidate_us, std::nullopt, 0}, {nullptr, 5000, std::nullopt, 0}};
    known_ = TimeEstimate{known_us, 0.99 * known_us, 1.01 * known_us, 5};
    return estimate(measure(options).kernels[1].us).samples;
  };
  EXPECT_EQ(samples(1000, 5000), 1);
  EXPECT_EQ(samples(1000, 5200), options.min_baseline_rounds);  // it takes another time now
  EXPECT_EQ(samples(2000, 5000), options.min_baseline_rounds);  // near enough to be compared in turn
}

TEST_F(TimingTest, IntervalsOfBaselinesCountWhereTheirRatioIsPresented) {
  MeasureOptions options;
  options.max_rounds = 20;
  const auto rounds = [&] {
    bench_.kernels = {{nullptr, 2000, std::nullopt, 0}, {nullptr, 3000, std::nullopt, 0}};
    bench_.kernels[1].drift_us = 200;
    return estimate(measure(options).kernels[0].us).samples;
  };
  EXPECT_EQ(rounds(), options.min_rounds);
  options.precise_baselines = true;
  EXPECT_EQ(rounds(), options.max_rounds);
}

TEST_F(TimingTest, WithoutFlushingOnlySlotsThatAreRunAreStaged) {
  bench_.kernels = {{nullptr, 1e6, std::nullopt, 0}};
  MeasureOptions options;
  options.flush = false;
  options.warm_up = false;
  options.min_rounds = options.max_rounds = 3;
  (void)measure(options, 1);
  EXPECT_EQ(bench_.staged, bench_.ran);
}

TEST_F(TimingTest, AKernelIsReloadedBeforeItWouldSeeADataSetAgain) {
  bench_.kernels = {{nullptr, 1e6, std::nullopt, 0}};
  reloadable_ = true;
  MeasureOptions options;
  options.min_rounds = options.max_rounds = 11;
  (void)measure(options, 1);
  EXPECT_EQ(reloads_, 3);  // twelve calls with the warm-up, four data sets
}

TEST_F(TimingTest, NoiseOutOfReachEndsTheRoundsOnceTheAnswerIsClear) {
  MeasureOptions options;
  options.target_noise = 1e-4;
  options.max_rounds = 40;
  const auto rounds = [&](double baseline_us) {
    bench_.kernels = {{nullptr, 2000, std::nullopt}, {nullptr, baseline_us, std::nullopt}};
    bench_.kernels[0].drift_us = 20;
    return estimate(measure(options).kernels[0].us).samples;
  };
  EXPECT_EQ(rounds(30000), options.min_rounds);
  EXPECT_EQ(rounds(2200), options.max_rounds);  // near: every round counts
  options.decided_noise = options.target_noise;
  EXPECT_EQ(rounds(30000), options.max_rounds);  // the wished noise or the whole time
}

TEST_F(TimingTest, LessPrecisionIsEnoughWhereTheAnswerIsClear) {
  MeasureOptions options;
  options.target_noise = 0.02;
  options.max_rounds = 40;
  const auto rounds = [&](double baseline_us) {
    bench_.kernels = {{nullptr, 2000, std::nullopt}, {nullptr, baseline_us, std::nullopt}};
    bench_.kernels[0].drift_us = 25;  // half a range of 2.5 % after five rounds: not three times what is wished
    return estimate(measure(options).kernels[0].us).samples;
  };
  EXPECT_EQ(rounds(5000), options.min_rounds);
  EXPECT_GT(rounds(2200), options.min_rounds);
  options.decided_noise = options.target_noise;
  EXPECT_GT(rounds(5000), options.min_rounds);
}

TEST_F(TimingTest, RoundsEndWhenTheTimeLimitWouldNotBringTheWishedNoise) {
  MeasureOptions options;
  options.target_noise = 1e-4;
  options.max_rounds = 40;
  const auto rounds = [&](int round_ms) {
    // Near each other, so that nothing is decided.
    bench_.kernels = {{nullptr, 2000, std::nullopt}, {nullptr, 2000, std::nullopt}};
    bench_.kernels[0].drift_us = 2;
    bench_.kernels[0].body = [this, round_ms](FakeBuffers&) { clock_.advance(std::chrono::milliseconds(round_ms)); };
    return estimate(measure(options).kernels[0].us).samples;
  };
  EXPECT_EQ(rounds(20), options.settle_rounds);
  options.settle_rounds = options.max_rounds;
  EXPECT_EQ(rounds(20), options.max_rounds);
  EXPECT_LT(rounds(100), 22);  // 2 s
}

TEST_F(TimingTest, DataThatTakesLongerIsNoNoise) {
  for (auto& data : more_) data.inputs = {ir::make_tensor(DType::f32, {4})};
  data_.inputs[0].as<float>()[0] = 1;  // one of four
  bench_.kernels = {{}};
  bench_.kernels[0].us_on = [](const FakeBuffers& buffers) { return buffers[0].as<float>()[0] > 0 ? 3000.0 : 2000.0; };
  MeasureOptions options;
  options.max_rounds = 40;
  const auto us = measure(options, 1).kernels[0].us;
  EXPECT_EQ(us.size(), 8U);  // twice every data set
  EXPECT_NEAR(estimate(us).median, std::pow(2000.0 * 2000 * 2000 * 3000, 0.25), 1e-6);
}

TEST_F(TimingTest, UnusualDataIsShownAndCheckedAndTimedApart) {
  for (auto& data : more_) data.inputs = {ir::make_tensor(DType::f32, {4})};
  for (int i = 1; i < 3; ++i) {
    more_[i].unusual = true;
    more_[i].inputs[0].as<float>()[0] = 1;
  }
  bench_.kernels = {{}, {}};
  std::vector<int> unusual_calls(2);
  for (std::size_t k = 0; k < 2; ++k)
    bench_.kernels[k].us_on = [&unusual_calls, k](const FakeBuffers& buffers) {
      const bool unusual = buffers[0].as<float>()[0] > 0;
      unusual_calls[k] += unusual ? 1 : 0;
      return unusual ? 9000.0 : 2000.0;
    };
  const TimingResult result = measure({});
  EXPECT_DOUBLE_EQ(estimate(result.kernels[0].us).high, 2000);
  EXPECT_EQ(result.kernels[0].unusual_us, (std::vector<double>{9000, 9000}));
  EXPECT_DOUBLE_EQ(estimate(result.kernels[1].us).high, 2000);
  EXPECT_TRUE(result.kernels[1].unusual_us.empty());
  EXPECT_EQ(unusual_calls, (std::vector<int>{2, 0})) << "every unusual set once, baselines none";
  EXPECT_EQ(checks_, bench_.kernels[0].calls + bench_.kernels[1].calls);
}

TEST_F(TimingTest, AnUnusualSetIsRefusedLikeAnyOther) {
  more_[2].unusual = true;
  more_[2].inputs = {ir::make_tensor(DType::f32, {4})};
  more_[2].inputs[0].as<float>()[0] = 1;
  bench_.kernels = {{}};
  refuse_unusual_ = true;
  EXPECT_EQ(measure({}, 1).refused, "candidate");
}

TEST_F(TimingTest, WhereAllDataIsUnusualItsTimesCount) {
  for (auto& data : more_) data.unusual = true;
  data_.unusual = true;
  bench_.kernels = {{nullptr, 10, std::nullopt, 0}};
  const TimingResult result = measure({}, 1);
  EXPECT_EQ(estimate(result.kernels[0].us).median, 10);
  EXPECT_TRUE(result.kernels[0].unusual_us.empty());
}

TEST_F(TimingTest, KernelsNeverShareASlot) {
  FakeBench one(ProblemLayout{{{"x", DType::f32, {4}, BufferRole::input}}, 1});
  one.kernels = {{nullptr, 1e4, std::nullopt}, {nullptr, 1e4, std::nullopt}};
  const std::vector<TimedKernel> list = {{"candidate", 0, 0, {}}, {"naive", 1, 0, {}}};
  MeasureOptions options;
  options.min_rounds = options.max_rounds = 3;
  Rng rng(1);
  const CheckSlot check = [&](std::size_t, int, const oracle::DataSet&, const SlotReport&) -> Result<bool> {
    ++checks_;
    EXPECT_EQ(one.staged.size(), one.ran.size());  // staged, run, checked, one kernel after the other
    return true;
  };
  ASSERT_TRUE(time_kernels(one, 1, list, {&data_}, options, rng, clock_, check));
  EXPECT_EQ(checks_, 8);
}

TEST_F(TimingTest, ShortKernelsAreBatched) {
  bench_.kernels = {{nullptr, 1, std::nullopt, 0}};
  MeasureOptions options;
  options.min_rounds = options.max_rounds = 2;
  (void)measure(options, 1);
  EXPECT_EQ(bench_.kernels[0].calls, 1 + 4 + 4);  // one in the warm-up, then half of the eight slots
}

TEST_F(TimingTest, ACandidatesFaultIsReportedNotThrown) {
  bench_.kernels = {{nullptr, 1, Fault{Fault::Kind::crashed, "boom"}, 0}};
  const TimingResult result = measure({}, 1);
  ASSERT_TRUE(result.fault.has_value());
  EXPECT_EQ(result.fault->message, "boom");
}

TEST(MeasureOptions, EveryOptionIsPartOfTheKey) {
  std::set<std::string> keys;
  const auto add = [&](const auto& change) {
    MeasureOptions options;
    change(options);
    EXPECT_TRUE(keys.insert(key_text(options)).second) << key_text(options);
  };
  add([](MeasureOptions&) {});
  add([](MeasureOptions& o) { ++o.min_rounds; });
  add([](MeasureOptions& o) { ++o.max_rounds; });
  add([](MeasureOptions& o) { o.target_noise *= 2; });
  add([](MeasureOptions& o) { ++o.time_limit; });
  add([](MeasureOptions& o) { ++o.min_batch; });
  add([](MeasureOptions& o) { ++o.call_limit; });
  add([](MeasureOptions& o) { o.baseline_share /= 2; });
  add([](MeasureOptions& o) { ++o.min_baseline_rounds; });
  add([](MeasureOptions& o) { o.decided_noise *= 2; });
  add([](MeasureOptions& o) { ++o.settle_rounds; });
  add([](MeasureOptions& o) { o.precise_baselines = !o.precise_baselines; });
  add([](MeasureOptions& o) { o.warm_up = !o.warm_up; });
  add([](MeasureOptions& o) { o.flush = !o.flush; });
}

TEST(Slots, ExceedTheCacheThreefoldWithinMemory) {
  DeviceFacts facts;
  facts.cache_bytes = 32 << 20;
  facts.memory_bytes = std::int64_t{8} << 30;
  EXPECT_EQ(slots_for(32 << 20, facts), 4);
  EXPECT_EQ(slots_for(1 << 20, facts), 64);
  EXPECT_EQ(slots_for(std::int64_t{3} << 30, facts), 1);
}

}  // namespace
}  // namespace kerf
