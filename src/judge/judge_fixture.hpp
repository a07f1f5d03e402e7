#pragma once
// A judge with a fake language and a fake device, for tests. The task is y = 2 x on a small and a large shape; what a
// kernel does is said by words in its source.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "device/fake_bench.hpp"
#include "judge/judge.hpp"
#include "language/fake_language.hpp"
#include "task/task.hpp"

namespace kerf {

/// Keeps what it hears.
class RecordingObserver final : public Observer {
 public:
  std::vector<TierEvent> tiers;
  std::vector<std::string> notes;
  void on_tier(const TierEvent& event) override { tiers.push_back(event); }
  void on_note(const std::string& text) override { notes.push_back(text); }
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const TierEvent& event : tiers) list.push_back(event.tier);
    return list;
  }
};

class JudgeTest : public testing::Test {
 protected:
  static constexpr std::int64_t kSmall = 6, kLarge = 12;

  JudgeTest() {
    task_ = parse_task(
                "name = \"double\"\n[inputs]\nx = \"f32[n]\"\n[shapes]\n"
                "large = { n = 12, weight = 1 }\nsmall = { n = 6 }\n"
                "[reference]\nexpr = \"y = 2 * x\"\noutputs = [\"y\"]\n",
                ".", "double.toml")
                .value();
    auto language = std::make_unique<FakeLanguage>();
    auto device = std::make_unique<FakeDevice>();
    language_ = language.get();
    device_ = device.get();
    device_->told.id = device_->told.name = "fake";
    device_->told.driver = "fake driver";
    device_->told.compute_units = 1;
    device_->behaviour = [this](const Artifact& artifact, const Bindings& constants) {
      return behave(artifact.bytes, constants.at("n"));
    };
    target_.name = "cpu";
    target_.language = std::move(language);
    target_.device = std::move(device);
    folder_ = std::filesystem::temp_directory_path() / ("kerf_judge_test_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
  }
  ~JudgeTest() override { std::filesystem::remove_all(folder_); }

  static void twice(FakeBuffers& b) {
    for (std::size_t i = 0; i < b[0].bytes.size() / sizeof(float); ++i) b[1].as<float>()[i] = 2 * b[0].as<float>()[i];
  }

  /// The naive kernel takes 40 us, others 10 us, unless `us_` has a word of their source.
  FakeBench::Kernel behave(const std::string& code, std::int64_t n) {
    const auto says = [&](const char* word) {
      return code.find(word) != std::string::npos &&
             (code.find("on the large shape") == std::string::npos || n == kLarge);
    };
    const bool naive = code.find("naive") != std::string::npos;
    FakeBench::Kernel kernel{twice, naive ? 40.0 : 10.0, std::nullopt, 0};
    for (const auto& [word, us] : us_)
      if (code.find(word) != std::string::npos) kernel.us = us;
    if (says("wrong") || (naive && naive_is_wrong_))
      kernel.body = [](FakeBuffers& b) {
        twice(b);
        b[1].as<float>()[3] += 1;
      };
    if (says("input changed"))
      kernel.body = [](FakeBuffers& b) {
        twice(b);
        b[0].as<float>()[0] = 7;
      };
    if (says("crash")) kernel.fault = Fault{Fault::Kind::crashed, "signal 11"};
    if (says("forbidden")) kernel.fault = Fault{Fault::Kind::forbidden, "openat"};
    if (says("crash late")) kernel.fault_after = n == kLarge ? 26 : 1 << 20;  // calls that verify it, and some
    if (says("not loadable")) kernel.load_fault = Fault{Fault::Kind::crashed, "too many registers"};
    if (says("endless")) kernel.us = 60e6;
    if (says("two clocks")) kernel.device_us = 2 * kernel.us;
    kernel.drift_us = drift_us_;
    if (naive) ++naive_loads_;
    return kernel;
  }

  static Candidate candidate(const std::string& words, const std::string& header = "") {
    return parse_candidate("k.cpp", "/* kerf\ntarget: cpu\n" + header + "*/\n// " + words + "\n").value();
  }

  Judge& judge(const JudgeOptions& options = {}) {
    const JudgeTools tools{target_, nullptr, builds_, clock_};
    auto opened = Judge::open(task_, tools, options, observer_);
    EXPECT_TRUE(opened) << opened.error().message;
    judge_ = *std::move(opened);
    return *judge_;
  }

  /// With values of tunables.
  Evaluation evaluate(Judge& judge, const Candidate& candidate, const Bindings& tunables = {}) {
    observer_.tiers.clear();
    auto evaluation = judge.evaluate(candidate, tunables, observer_);
    EXPECT_TRUE(evaluation) << evaluation.error().message;
    return evaluation ? *std::move(evaluation) : Evaluation{};
  }
  Outcome outcome(const std::string& words) { return evaluate(judge(), candidate(words)).outcome; }

  Task task_;
  Target target_;
  FakeLanguage* language_ = nullptr;  // of target_
  FakeDevice* device_ = nullptr;      // likewise
  BuildCache builds_{std::filesystem::path{}};
  FakeClock clock_;
  RecordingObserver observer_;
  std::filesystem::path folder_;  // for caches; removed at the end
  std::map<std::string, double> us_;
  double drift_us_ = 0;          // every call takes this much longer than the one before
  bool naive_is_wrong_ = false;  // from the next load on
  int naive_loads_ = 0;
  std::unique_ptr<Judge> judge_;
};

}  // namespace kerf
