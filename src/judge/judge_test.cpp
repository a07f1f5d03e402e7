#include "judge/judge.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "judge/judge_fixture.hpp"

namespace kerf {
namespace {

using Names = std::vector<std::string>;
const Names kAllTiers{"parse", "compile", "static", "small shape", "compile rest", "all shapes", "timing"};

TEST_F(JudgeTest, ARightKernelPassesEveryTierAndIsTimedAgainstTheNaiveOne) {
  const Evaluation evaluation = evaluate(judge(), candidate("fine"));
  ASSERT_TRUE(std::holds_alternative<Measurement>(evaluation.outcome)) << outcome_message(evaluation.outcome);
  const auto& measurement = std::get<Measurement>(evaluation.outcome);
  EXPECT_EQ(observer_.names(), kAllTiers);
  ASSERT_EQ(measurement.shapes.size(), 1U);  // the small shape has no weight
  EXPECT_EQ(measurement.shapes[0].shape, "large");
  EXPECT_DOUBLE_EQ(measurement.shapes[0].time.median, 10);
  EXPECT_DOUBLE_EQ(measurement.shapes[0].baselines.at("naive").median, 40);
  EXPECT_EQ(measurement.speedup.vs, "naive");
  EXPECT_DOUBLE_EQ(measurement.speedup.ratio, 4);
  EXPECT_TRUE(beats_baseline(measurement));
  EXPECT_EQ(evaluation.tiers.size(), kAllTiers.size());
  EXPECT_EQ(evaluation.device, "fake");
  EXPECT_FALSE(evaluation.from_cache);
}

TEST_F(JudgeTest, TheFirstKernelSaysWhatThePreparationCost) {
  Judge& judge = this->judge();
  std::set<std::string> parts;
  for (const TierTime& part : evaluate(judge, candidate("fine")).preparation) parts.insert(part.tier);
  for (const char* part : {"small: data and oracle", "large: data and oracle", "large: compiling baselines"})
    EXPECT_TRUE(parts.contains(part)) << part;
  EXPECT_TRUE(evaluate(judge, candidate("another")).preparation.empty());
}

TEST_F(JudgeTest, AKernelSlowerThanTheNaiveOneIsMeasuredAndDoesNotBeatIt) {
  us_["slow"] = 55;
  const Outcome slow = outcome("slow");
  ASSERT_TRUE(std::holds_alternative<Measurement>(slow));
  EXPECT_FALSE(beats_baseline(std::get<Measurement>(slow)));
}

TEST_F(JudgeTest, AHeaderThatDoesNotFitIsRejectedBeforeAnythingIsCompiled) {
  Candidate other = candidate("fine");
  other.target = "opencl";
  EXPECT_EQ(failed_gate(evaluate(judge(), other).outcome), Gate::parse);
  EXPECT_EQ(observer_.names(), Names{"parse"});
  const Evaluation narrow = evaluate(*judge_, candidate("fine", "require: n % 4 == 0\n"));
  EXPECT_EQ(failed_gate(narrow.outcome), Gate::parse);
  EXPECT_NE(outcome_message(narrow.outcome).find("shape 'small'"), std::string::npos);
  EXPECT_EQ(language_->compiles(), 0);
}

TEST_F(JudgeTest, CompilerOutputIsTheMessageAndNamesTheShape) {
  language_->script = [](const CompileRequest& request) -> std::optional<CompileOutcome> {
    const bool broken = request.source.find("broken") != std::string::npos;
    const bool here = request.source.find("everywhere") != std::string::npos || request.constants.at("n") == kLarge;
    if (broken && here) return CompileFailed{"error: no such function"};
    return std::nullopt;
  };
  const Outcome everywhere = outcome("broken everywhere");
  ASSERT_TRUE(std::holds_alternative<BuildFailed>(everywhere));
  EXPECT_EQ(std::get<BuildFailed>(everywhere).shape, "small");
  EXPECT_EQ(observer_.names(), (Names{"parse", "compile"}));
  const Outcome later = outcome("broken for large extents");
  ASSERT_TRUE(std::holds_alternative<BuildFailed>(later));
  EXPECT_EQ(std::get<BuildFailed>(later).shape, "large");
  EXPECT_EQ(std::get<BuildFailed>(later).log, "error: no such function");
  EXPECT_EQ(observer_.tiers.back().tier, "compile rest");
  EXPECT_FALSE(observer_.tiers.back().ok);
  EXPECT_EQ(observer_.tiers.back().detail, "build_failed");
}

TEST_F(JudgeTest, CompilerOutputNamesTheFileAsTheUserDoes) {
  language_->script = [](const CompileRequest& request) -> std::optional<CompileOutcome> {
    if (request.source.find("broken") == std::string::npos) return std::nullopt;
    return CompileFailed{"kernel.cpp:3:1: error: no\nin my_kernel.cpp, kernel.cppx: as kernel.cpp says"};
  };
  JudgeOptions options;
  options.cache = folder_;
  const auto log = [&](const std::string& name) {
    Candidate broken = candidate("broken");
    broken.name = name;
    return std::get<BuildFailed>(evaluate(judge(options), broken).outcome).log;
  };
  EXPECT_EQ(log("src/mine.cpp"), "src/mine.cpp:3:1: error: no\nin my_kernel.cpp, kernel.cppx: as src/mine.cpp says");
  EXPECT_EQ(log("other.cpp").substr(0, 12), "other.cpp:3:") << "not the name that the cache knows";
  EXPECT_EQ(log("row/passes").substr(0, 13), "kernel.cpp:3:") << "not a file";
}

TEST_F(JudgeTest, TheStaticBudgetHoldsForEveryShape) {
  language_->script = [&](const CompileRequest& request) -> std::optional<CompileOutcome> {
    const bool caught = request.source.find("global") != std::string::npos;
    const bool here = request.source.find("everywhere") != std::string::npos || request.constants.at("n") == kLarge;
    if (!caught || !here) return std::nullopt;
    Artifact artifact = language_->artifact(request);
    artifact.facts.writable_globals = {"cache (4 bytes)"};
    return artifact;
  };
  EXPECT_EQ(failed_gate(outcome("global everywhere")), Gate::static_budget);
  EXPECT_EQ(observer_.tiers.back().tier, "static");
  EXPECT_EQ(failed_gate(outcome("global for large extents")), Gate::static_budget);
  EXPECT_EQ(observer_.tiers.back().tier, "compile rest");
}

TEST_F(JudgeTest, AWrongResultComesWithEvidence) {
  const Outcome small = outcome("wrong");
  ASSERT_TRUE(std::holds_alternative<WrongResult>(small));
  EXPECT_EQ(observer_.tiers.back().tier, "small shape");
  const Outcome large = outcome("wrong on the large shape");
  ASSERT_TRUE(std::holds_alternative<WrongResult>(large));
  EXPECT_EQ(observer_.tiers.back().tier, "all shapes");
  const auto& wrong = std::get<WrongResult>(large);
  EXPECT_EQ(wrong.gate, Gate::values);
  ASSERT_TRUE(wrong.evidence);
  EXPECT_EQ(wrong.evidence->shape, "large");
  EXPECT_EQ(wrong.evidence->worst_index, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(wrong.evidence->box_low, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(wrong.evidence->wrong, 1);
}

TEST_F(JudgeTest, AnInputThatIsChangedIsRefusedThoughTheOutputIsRight) {
  EXPECT_EQ(failed_gate(outcome("input changed")), Gate::inputs_unchanged);
}

TEST_F(JudgeTest, ACrashIsFollowedByACanaryAndTheNextCandidateIsJudged) {
  Judge& judge = this->judge();
  ASSERT_TRUE(std::holds_alternative<Measurement>(evaluate(judge, candidate("fine")).outcome));
  const int loads = naive_loads_;
  const Outcome crashed = evaluate(judge, candidate("crash")).outcome;
  ASSERT_TRUE(std::holds_alternative<Crashed>(crashed));
  EXPECT_EQ(std::get<Crashed>(crashed).gate, Gate::small_shape);
  EXPECT_EQ(std::get<Crashed>(crashed).message, "signal 11");
  EXPECT_EQ(naive_loads_, loads + 1);  // the worker was replaced: the naive kernel is loaded again, as the canary
  EXPECT_TRUE(std::holds_alternative<Measurement>(evaluate(judge, candidate("fine, too")).outcome));
}

TEST_F(JudgeTest, ADeviceThatNoLongerComputesRightlyStopsTheJudge) {
  Judge& judge = this->judge();
  ASSERT_TRUE(std::holds_alternative<Measurement>(evaluate(judge, candidate("fine")).outcome));
  naive_is_wrong_ = true;
  const auto evaluation = judge.evaluate(candidate("crash"), {}, observer_);
  ASSERT_FALSE(evaluation);
  EXPECT_EQ(evaluation.error().code, Errc::unavailable);
  EXPECT_NE(evaluation.error().message.find("no longer computes correctly"), std::string::npos);
}

TEST_F(JudgeTest, FaultsKeepTheirKindAndTheirTier) {
  const Outcome hung = outcome("endless");
  ASSERT_TRUE(std::holds_alternative<TimedOut>(hung));
  EXPECT_EQ(failed_gate(hung), Gate::small_shape);
  EXPECT_EQ(failed_gate(outcome("endless on the large shape")), Gate::all_shapes);
  EXPECT_EQ(failed_gate(outcome("forbidden")), Gate::sandbox);
  const Outcome refused = outcome("not loadable");
  ASSERT_TRUE(std::holds_alternative<Crashed>(refused));
  EXPECT_EQ(outcome_message(refused), "too many registers");
  const Outcome late = outcome("crash late");
  ASSERT_TRUE(std::holds_alternative<Crashed>(late));
  EXPECT_EQ(failed_gate(late), Gate::timing);
}

TEST_F(JudgeTest, TheCallLimitGrowsWithTheNaiveKernel) {
  us_["slow"] = 2e6;  // 2 s: past the limit of 900 ms
  EXPECT_TRUE(std::holds_alternative<TimedOut>(outcome("slow")));
  us_["naive"] = 1e5;  // 20 times 0.1 s on top
  EXPECT_TRUE(std::holds_alternative<Measurement>(outcome("slow, and so is the other one")));
}

TEST_F(JudgeTest, ACandidateThatIsFarSlowerThanAnotherIsTimedBrieflyAndNotKept) {
  JudgeOptions options;
  options.cache = folder_;
  const auto samples = [](const Evaluation& evaluation) {
    return std::get<Measurement>(evaluation.outcome).shapes.at(0).time.samples;
  };
  us_["sluggish"] = 150;
  Judge& judge = this->judge(options);
  EXPECT_EQ(samples(evaluate(judge, candidate("sluggish"))), 5);  // the first there is
  EXPECT_EQ(samples(evaluate(judge, candidate("fine"))), 5);
  us_["tired"] = 110;
  EXPECT_EQ(samples(evaluate(judge, candidate("tired"))), 2);
  us_["fair"] = 90;
  EXPECT_EQ(samples(evaluate(judge, candidate("fair"))), 5);
  EXPECT_TRUE(evaluate(this->judge(options), candidate("fine")).from_cache);
  EXPECT_FALSE(evaluate(this->judge(options), candidate("tired")).from_cache);
}

TEST_F(JudgeTest, VerificationSaysForWhichKernelASlotIsStaged) {
  JudgeOptions options;
  options.skip_timing = true;
  Judge& judge = this->judge(options);
  (void)evaluate(judge, candidate("first"));  // stages for the naive kernel, too
  const FakeBench& bench = *device_->benches.back();
  const std::size_t staged = bench.staged.size();
  const int expected = bench.stagings_expected;
  (void)evaluate(judge, candidate("fine"));
  EXPECT_GT(bench.staged.size(), staged);
  EXPECT_EQ(static_cast<std::size_t>(bench.stagings_expected - expected), bench.staged.size() - staged);
}

TEST_F(JudgeTest, NothingIsStagedToFlushACacheThatTheDeviceSettles) {
  const auto staged = [&] {
    (void)evaluate(judge(), candidate("fine"));
    return device_->benches.back()->staged.size();
  };
  device_->told.cache_bytes = 1 << 20;
  device_->told.memory_bytes = 1 << 30;
  const std::size_t flushed = staged();
  device_->told.settles_cache = true;
  EXPECT_LT(3 * staged(), 2 * flushed);
}

TEST_F(JudgeTest, ATimeBelowThePhysicalFloorIsNotBelieved) {
  JudgeOptions options;
  options.cache = folder_;
  Peaks peaks;
  peaks.rates["copy"] = 2.0 * kLarge * sizeof(float) / 100e-6;  // 100 us for both tensors of the large shape
  ASSERT_TRUE(save_peaks(folder_, device_->told, peaks));
  EXPECT_EQ(failed_gate(evaluate(judge(options), candidate("fine")).outcome), Gate::floor);
  EXPECT_EQ(observer_.tiers.back().tier, "timing");
  us_["fine"] = 90;  // within the margin
  const Outcome honest = evaluate(judge(options), candidate("fine and slower")).outcome;
  ASSERT_TRUE(std::holds_alternative<Measurement>(honest));
  EXPECT_NEAR(std::get<Measurement>(honest).shapes[0].speed_of_light->floor_us, 100, 1e-9);
}

TEST_F(JudgeTest, ADeviceClockThatRunsAheadOfTheHostsIsNotBelieved) {
  EXPECT_EQ(failed_gate(outcome("two clocks")), Gate::clock);
}

TEST_F(JudgeTest, WithoutTimingTheVerdictIsAboutCorrectness) {
  JudgeOptions options;
  options.skip_timing = true;
  const Outcome verified = evaluate(judge(options), candidate("fine")).outcome;
  ASSERT_TRUE(std::holds_alternative<Measurement>(verified));
  EXPECT_TRUE(std::get<Measurement>(verified).shapes.empty());
  EXPECT_EQ(observer_.names(), Names(kAllTiers.begin(), kAllTiers.end() - 1));
}

TEST_F(JudgeTest, TheNaiveKernelIsThereOnlyWhereSomethingIsTimed) {
  const auto loads = [&](bool timed) {  // on both shapes one of the accuracy class, and the naive one on the timed one
    naive_loads_ = 0;
    JudgeOptions options;
    options.skip_timing = !timed;
    (void)evaluate(judge(options), candidate("fine"));
    return naive_loads_;
  };
  EXPECT_EQ(loads(true), 3);
  EXPECT_EQ(loads(false), 2);
}

TEST_F(JudgeTest, AfterACrashWithoutTimingTheKernelOfTheAccuracyClassIsTheCanary) {
  JudgeOptions options;
  options.skip_timing = true;
  Judge& judge = this->judge(options);
  ASSERT_TRUE(std::holds_alternative<Measurement>(evaluate(judge, candidate("fine")).outcome));
  const int loads = naive_loads_;
  ASSERT_TRUE(std::holds_alternative<Crashed>(evaluate(judge, candidate("crash")).outcome));
  EXPECT_EQ(naive_loads_, loads + 1);
  naive_is_wrong_ = true;
  const auto stopped = judge.evaluate(candidate("crash again"), {}, observer_);
  ASSERT_FALSE(stopped);
  EXPECT_NE(stopped.error().message.find("no longer computes correctly"), std::string::npos);
}

TEST_F(JudgeTest, AShapeThatIsAskedForByNameIsTheOnlyOneAndIsTimed) {
  JudgeOptions options;
  options.only_shape = "small";
  const Outcome measured = evaluate(judge(options), candidate("fine")).outcome;
  ASSERT_TRUE(std::holds_alternative<Measurement>(measured));
  EXPECT_EQ(std::get<Measurement>(measured).shapes.at(0).shape, "small");
  options.only_shape = "smal";
  const auto unknown = Judge::open(task_, {target_, nullptr, builds_, clock_}, options, observer_);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("did you mean 'small'?"), std::string::npos);
}

TEST_F(JudgeTest, AQuickTimingHasTimesButNoBaselineAndVerifiesOnlyOnce) {
  Judge& judge = this->judge();
  const Candidate fine = candidate("fine");
  const auto first = judge.time_quickly(fine, {}, 3, observer_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->refused);
  ASSERT_EQ(first->shapes.size(), 1U);
  EXPECT_EQ(first->shapes[0].shape, "large");
  EXPECT_EQ(first->shapes[0].us, std::vector<double>(3, 10.0));
  EXPECT_EQ(observer_.names(), (Names{"parse", "compile", "static", "small shape", "quick timing"}));
  observer_.tiers.clear();
  ASSERT_TRUE(judge.time_quickly(fine, {}, 3, observer_));
  EXPECT_EQ(observer_.names(), Names{"quick timing"});
  const auto wrong = judge.time_quickly(candidate("wrong"), {}, 3, observer_);
  ASSERT_TRUE(wrong);
  ASSERT_TRUE(wrong->refused);
  EXPECT_EQ(failed_gate(*wrong->refused), Gate::values);
  EXPECT_TRUE(wrong->shapes.empty());
}

TEST_F(JudgeTest, TwoKernelsAreTimedInTurn) {
  us_["quicker"] = 8;
  Judge& judge = this->judge();
  const Candidate ours = candidate("quicker"), theirs = candidate("fine"), broken = candidate("crash");
  const Bindings none;
  const auto paired = judge.compare({ours, none}, {theirs, none});
  ASSERT_TRUE(paired) << paired.error().message;
  ASSERT_TRUE(paired->speedup);
  EXPECT_DOUBLE_EQ(paired->speedup->ratio, 1.25);
  EXPECT_DOUBLE_EQ(paired->speedup->low, 1.25);
  const auto failed = judge.compare({broken, none}, {theirs, none});
  ASSERT_TRUE(failed);
  ASSERT_TRUE(failed->refused);
  EXPECT_TRUE(std::holds_alternative<Crashed>(*failed->refused));
  const auto theirs_failed = judge.compare({ours, none}, {broken, none});
  ASSERT_TRUE(theirs_failed);
  EXPECT_FALSE(theirs_failed->refused);  // no verdict on the first one
  EXPECT_FALSE(theirs_failed->speedup);
}

TEST_F(JudgeTest, ASlowBaselineWithAReferenceTimeIsNotTimedAgain) {
  us_["naive"] = 3e5;  // more than a tenth of the time limit
  Judge& judge = this->judge();
  ASSERT_TRUE(std::holds_alternative<Measurement>(evaluate(judge, candidate("fine")).outcome));
  const auto calls = [&] {
    int sum = 0;
    for (const FakeBench* bench : device_->benches)
      for (const auto& kernel : bench->kernels) sum += kernel.us > 1e5 ? kernel.calls : 0;
    return sum;
  };
  const int before = calls();
  judge.set_references({{"large", {{"naive", {4e5, 4e5, 4e5, 9}}}}});
  const Outcome outcome = evaluate(judge, candidate("fine, too")).outcome;
  ASSERT_TRUE(std::holds_alternative<Measurement>(outcome));
  EXPECT_DOUBLE_EQ(std::get<Measurement>(outcome).speedup.ratio, 4e4);  // by the reference
  EXPECT_EQ(calls(), before);
}

TEST_F(JudgeTest, ABaselineTwentyTimesAsSlowIsTimedOnceForAllCandidates) {
  us_["naive"] = 500;
  Judge& judge = this->judge();
  const auto timed = [&] {
    int sum = 0;
    for (const FakeBench* bench : device_->benches)
      for (const auto& kernel : bench->kernels) sum += kernel.us == 500 ? kernel.calls : 0;
    return sum;
  };
  const auto first = evaluate(judge, candidate("fine")).outcome;
  const int before = timed();
  const auto second = evaluate(judge, candidate("fine, too")).outcome;
  EXPECT_EQ(timed(), before);
  for (const Outcome& outcome : {first, second}) {
    ASSERT_TRUE(std::holds_alternative<Measurement>(outcome));
    EXPECT_DOUBLE_EQ(std::get<Measurement>(outcome).speedup.ratio, 50);
    EXPECT_EQ(std::get<Measurement>(outcome).shapes[0].baselines.at("naive").samples, 1);
  }
  us_["slow"] = 40;  // near enough to be compared in turn
  const auto third = evaluate(judge, candidate("slow")).outcome;
  EXPECT_GT(std::get<Measurement>(third).shapes[0].baselines.at("naive").samples, 1);
}

TEST_F(JudgeTest, AKernelThatIsSlowerThanEstimatedHasARatioToABaselineThatWasTimedOnce) {
  for (const double drift : {0.1, 0.2, 0.4, 0.8}) {
    us_["naive"] = 500;
    Judge& judge = this->judge();
    ASSERT_TRUE(std::holds_alternative<Measurement>(evaluate(judge, candidate("fine")).outcome));
    device_->behaviour = [&](const Artifact& artifact, const Bindings& constants) {
      FakeBench::Kernel kernel = behave(artifact.bytes, constants.at("n"));
      if (artifact.bytes.find("fine, too") != std::string::npos) kernel.drift_us = drift;
      return kernel;
    };
    const auto outcome = evaluate(judge, candidate("fine, too")).outcome;
    ASSERT_TRUE(std::holds_alternative<Measurement>(outcome));
    EXPECT_GT(std::get<Measurement>(outcome).speedup.ratio, 1) << "drift " << drift;
  }
}

TEST_F(JudgeTest, ABaselineThatIsWellSlowerIsTimedOnceMoreForEveryFurtherCandidateButFinalists) {
  us_["naive"] = 50;
  const auto timed = [&] {
    int sum = 0;
    for (const FakeBench* bench : device_->benches)
      for (const auto& kernel : bench->kernels) sum += kernel.us == 50 ? kernel.calls : 0;
    return sum;
  };
  const auto calls_for_the_second = [&](bool certify) {
    JudgeOptions options;
    options.certify = certify;
    options.soak_seconds = 0;
    device_->benches.clear();  // those of the judge before end with it
    Judge& judge = this->judge(options);
    const auto first = evaluate(judge, candidate("fine"));
    const int before = timed();
    const auto second = evaluate(judge, candidate("fine, too"));
    for (const Evaluation& one : {first, second}) {
      EXPECT_DOUBLE_EQ(std::get<Measurement>(one.outcome).speedup.ratio, 5);
      EXPECT_GE(std::get<Measurement>(one.outcome).shapes[0].baselines.at("naive").samples, 5);
    }
    return timed() - before;
  };
  const int alone = calls_for_the_second(false);
  EXPECT_GT(alone, 0);
  EXPECT_GT(calls_for_the_second(true), alone);
}

TEST_F(JudgeTest, CompilingAheadCompilesNothingTwice) {
  ASSERT_TRUE(std::holds_alternative<Measurement>(evaluate(judge(), candidate("fine")).outcome));
  const int compiles = language_->compiles();
  BuildCache fresh{std::filesystem::path{}};
  JudgeTools ahead{target_, nullptr, fresh, clock_, 0, true};
  auto opened = Judge::open(task_, ahead, {}, observer_);
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_TRUE(std::holds_alternative<Measurement>(evaluate(**opened, candidate("fine")).outcome));
  EXPECT_EQ(language_->compiles(), 2 * compiles);
}

TEST_F(JudgeTest, WhatIsJudgedFirstIsCompiledWhileTheJudgeIsOpened) {
  const auto compiles = [&](std::optional<Judge::First> first) {
    BuildCache fresh{std::filesystem::path{}};
    const JudgeTools tools{target_, nullptr, fresh, clock_, 0, true};
    const int before = language_->compiles();
    EXPECT_TRUE(Judge::open(task_, tools, {}, observer_, std::move(first)));  // closing it waits for the compilers
    return language_->compiles() - before;
  };
  const int others = compiles(std::nullopt);
  EXPECT_GT(others, 0);                                                  // baselines
  EXPECT_EQ(compiles(Judge::First{candidate("fine"), {}}), others + 2);  // both shapes
  EXPECT_EQ(compiles(Judge::First{candidate("no fit", "require: n % 4 == 0\n"), {}}), others);
}

TEST_F(JudgeTest, PrefetchLeavesNothingToCompile) {
  Judge& judge = this->judge();
  ASSERT_TRUE(std::holds_alternative<Measurement>(evaluate(judge, candidate("fine")).outcome));
  const Candidate next = candidate("next");
  judge.prefetch(next, {});
  const int compiles = language_->compiles();
  ASSERT_TRUE(std::holds_alternative<Measurement>(evaluate(judge, next).outcome));
  EXPECT_EQ(language_->compiles(), compiles);
}

TEST_F(JudgeTest, ATaskIsAdmittedBeforeAnyCandidateIsJudged) {
  task_ = parse_task(
              "name = \"nothing\"\n[inputs]\nx = \"f32[n]\"\n[shapes]\nsmall = { n = 6, weight = 1 }\n"
              "[reference]\nexpr = \"y = 0 * x\"\noutputs = [\"y\"]\n",
              ".", "nothing.toml")
              .value();
  const auto refused = Judge::open(task_, {target_, nullptr, builds_, clock_}, {}, observer_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("is refused"), std::string::npos);
}

TEST_F(JudgeTest, InputsOnWhichHardlyAnyElementIsComparedAreNoted) {
  task_ = parse_task(
              "name = \"steps\"\n[inputs]\nx = \"f32[n]\"\n[shapes]\nsmall = { n = 6, weight = 1 }\n"
              "[reference]\nexpr = \"y = floor(3 * x)\"\noutputs = [\"y\"]\n",
              ".", "steps.toml")
              .value();
  device_->behaviour = [](const Artifact&, const Bindings&) {
    return FakeBench::Kernel{[](FakeBuffers& b) {
                               for (std::size_t i = 0; i < b[0].bytes.size() / sizeof(float); ++i)
                                 b[1].as<float>()[i] = std::floor(3 * b[0].as<float>()[i]);
                             },
                             10.0, std::nullopt, 0};
  };
  const Evaluation evaluation = evaluate(judge(), candidate("right"));
  const auto notes = [&](const std::string& text) {
    return std::ranges::count_if(evaluation.notes,
                                 [&](const std::string& note) { return note.find(text) != std::string::npos; });
  };
  EXPECT_EQ(notes("on integers inputs 100 % of the elements are not compared"), 1);
  EXPECT_EQ(notes("on positive inputs"), 0);
}

TEST_F(JudgeTest, AShapeThatDoesNotFitIntoMemoryIsNamedBeforeAnythingIsAllocated) {
  JudgeTools tools{target_, nullptr, builds_, clock_};
  tools.host_bytes = 100;
  const auto admission = Judge::open(task_, tools, {}, observer_);
  ASSERT_FALSE(admission);
  EXPECT_NE(admission.error().message.find("shape 'small' does not fit into memory"), std::string::npos)
      << admission.error().message;
  device_->told.memory_bytes = 1 << 12;
  const auto evaluation = judge().evaluate(candidate("fine"), {}, observer_);
  ASSERT_FALSE(evaluation);
  EXPECT_EQ(evaluation.error().code, Errc::invalid_input);
  EXPECT_NE(evaluation.error().message.find("the device has 4096 bytes"), std::string::npos)
      << evaluation.error().message;
  EXPECT_TRUE(device_->benches.empty());
}

TEST_F(JudgeTest, ACacheThatCannotBeWrittenIsNotedOnceAndHindersNothing) {
  const std::filesystem::path file = folder_;
  std::ofstream(file) << "not a folder";
  BuildCache builds(file / "builds");
  auto opened = Judge::open(task_, {target_, nullptr, builds, clock_}, {}, observer_);
  ASSERT_TRUE(opened) << opened.error().message;
  Judge& judge = **opened;
  const Evaluation first = evaluate(judge, candidate("fine")), second = evaluate(judge, candidate("fine, too"));
  for (const Evaluation* evaluation : {&first, &second}) {
    EXPECT_TRUE(std::holds_alternative<Measurement>(evaluation->outcome));
    ASSERT_EQ(evaluation->notes.size(), 1U);
    EXPECT_NE(evaluation->notes[0].find("compiled code is not kept"), std::string::npos);
  }
  EXPECT_EQ(std::count(observer_.notes.begin(), observer_.notes.end(), first.notes[0]), 1);
}

TEST_F(JudgeTest, SeveralCoresOfTheHostHaveAParallelNaiveBaselineBesideTheSerialOne) {
  us_["omp parallel for"] = 22;
  ASSERT_TRUE(std::holds_alternative<Measurement>(outcome("fine")));
  EXPECT_EQ(std::get<Measurement>(outcome("fine")).shapes[0].baselines.count("naive-parallel"), 0U);
  device_->told.runs_on_host = true;
  device_->told.compute_units = 2;
  const Outcome parallel = outcome("fine");
  ASSERT_TRUE(std::holds_alternative<Measurement>(parallel)) << outcome_message(parallel);
  const auto& measurement = std::get<Measurement>(parallel);
  EXPECT_DOUBLE_EQ(measurement.shapes[0].baselines.at("naive").median, 40);
  EXPECT_DOUBLE_EQ(measurement.shapes[0].baselines.at("naive-parallel").median, 22);
  EXPECT_EQ(measurement.speedup.vs, "naive-parallel");  // the strongest one decides
  EXPECT_DOUBLE_EQ(measurement.speedup.ratio, 2.2);
}

}  // namespace
}  // namespace kerf
