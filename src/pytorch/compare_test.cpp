#include "pytorch/compare.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kerf::pytorch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAnswer =
    R"json({"schema": 1, "ok": true, "complete": true, "stage": "done", "torch": "2.11.0+cu130", "device": "cuda",
    "device_name": "NVIDIA H200", "seed": 42,
    "eager": {"status": "measured", "message": "", "prepare_seconds": 0.5, "errors": {"rms": 3e-4, "worst": 2e-3},
              "times": {"median_us": 1230, "interval_us": [1200, 1260], "samples": 40}},
    "compiled": {"status": "measured", "message": "", "prepare_seconds": 9.5,
                 "times": {"median_us": 980, "interval_us": [970, 990], "samples": 24}},
    "kernel": {"status": "measured", "message": "", "errors": {"rms": 2e-4, "worst": 1e-3},
               "times": {"median_us": 610, "interval_us": [600, 620], "samples": 40}},
    "over_eager": {"ratio": 2.02, "interval": [1.95, 2.1]}, "over_compiled": {"ratio": 1.61, "interval": [1.5, 1.7]},
    "compiled_over_eager": null,
    "kernelbench": {"decided": true, "correct": false, "draws": 3, "passed": 1, "tolerance": 1e-4, "worst": null,
                    "problem": "values differ by up to 0.02"},
    "accuracy_class": "tf32", "class_evidence": "measured", "in_class": true, "double_precision": "part",
    "weak": [{"kind": "zeros", "output": ""}, {"kind": "first_input", "output": "2"}], "hard_inputs": true,
    "notes": ["one"]})json";

/// Leaves an answer as a Python would, and ends as told.
class AnsweringPython final : public Sandbox {
 public:
  std::string answer;
  ProcessOutcome outcome;
  std::string asked;

  Result<ProcessOutcome> run(const SandboxCommand& command) override {
    if (const auto request = read_file(command.argv.at(5))) asked = *request;
    if (!answer.empty()) KERF_TRY_VOID(write_file_atomic(command.argv.at(6), answer));
    return outcome;
  }
  Result<std::unique_ptr<SandboxProcess>> start(const SandboxCommand&) override {
    return fail(Errc::unavailable, "starts nothing");
  }
};

class CompareTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "kerf-compare-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    for (const char* name : {"python3", "model.py", "new.py"})
      ASSERT_TRUE(write_file_atomic(root_ / name, "#!/bin/sh\n"));
    ASSERT_EQ(::chmod((root_ / "python3").c_str(), 0755), 0);
    request_.model = root_ / "model.py";
    request_.kernel = root_ / "new.py";
    request_.device = "cuda";
    request_.environment = {{"KERF_PYTHON", (root_ / "python3").string()}};
  }
  void TearDown() override { fs::remove_all(root_); }
  Comparison comparison() {
    const auto made = compare_with_pytorch(request_, sandbox_);
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(Comparison{});
  }

  fs::path root_;
  CompareRequest request_;
  AnsweringPython sandbox_;
};

TEST_F(CompareTest, ReadsWhatTheBridgeAnswers) {
  sandbox_.answer = kAnswer;
  const Comparison made = comparison();
  EXPECT_EQ(made.eager.status, ProgramStatus::measured);
  EXPECT_DOUBLE_EQ(made.eager.times->median_us, 1230);
  EXPECT_EQ(made.compiled.times->samples, 24);
  EXPECT_FALSE(made.compiled.errors);
  EXPECT_DOUBLE_EQ(made.over_eager->interval.low, 1.95);
  EXPECT_FALSE(made.compiled_over_eager);
  EXPECT_FALSE(made.kernelbench.correct);
  EXPECT_GT(made.kernelbench.worst, 1e300);  // null: not finite
  EXPECT_EQ(made.in_class, std::optional(true));
  ASSERT_EQ(made.weak.size(), 2u);
  EXPECT_EQ(made.weak[1].output, "2");
  EXPECT_EQ(made.python, (root_ / "python3").string());
  EXPECT_TRUE(usable(made));
}

TEST_F(CompareTest, WhatIsStoredIsReadBack) {
  sandbox_.answer = kAnswer;
  const Comparison made = comparison();
  const auto again = comparison_from_json(to_json(made));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), to_json(made));
  EXPECT_FALSE(comparison_from_json("{}"));
  EXPECT_FALSE(comparison_from_json("not JSON"));
  EXPECT_FALSE(comparison_from_json(R"({"schema": 2})"));
}

TEST_F(CompareTest, SaysItInAFewLines) {
  sandbox_.answer = kAnswer;
  const auto lines = in_words(comparison());
  ASSERT_EQ(lines.size(), 4u) << join(lines, "\n");
  EXPECT_EQ(lines[0],
            "PyTorch 2.11 eager 1.23 ms, torch.compile 980 us, this kernel 610 us: 2.02x (1.95 to 2.10) and 1.61x "
            "(1.50 to 1.70)");
  EXPECT_EQ(lines[1],
            "not right by KernelBench's rule (1 of 3 draws): values differ by up to 0.02; error against f64 0.0002, "
            "PyTorch's 0.0003 (tf32)");
  EXPECT_EQ(lines[2],
            "the file's inputs do not tell right from wrong: zeros, first_input (output 2) would pass; right on inputs "
            "of both signs too");
}

TEST_F(CompareTest, AsksForWhatTheRequestSays) {
  sandbox_.answer = kAnswer;
  request_.timing = std::chrono::milliseconds(1500);
  request_.compile = false;
  comparison();
  for (const char* part : {R"("do":"compare")", R"("timing_s":1.5)", R"("compile":false)", R"("device":"cuda")"})
    EXPECT_NE(sandbox_.asked.find(part), std::string::npos) << part << " in " << sandbox_.asked;
}

TEST_F(CompareTest, AProcessThatEndsLeavesWhatItHad) {
  std::string part = kAnswer;
  part.replace(part.find(R"("complete": true)"), 16, R"("complete":false)");
  part.replace(part.find(R"("stage": "done")"), 15, R"("stage":"compile")");
  sandbox_.answer = part;
  sandbox_.outcome.timed_out = true;
  const Comparison made = comparison();
  EXPECT_FALSE(made.complete);
  EXPECT_EQ(made.compiled.status, ProgramStatus::timed_out);
  EXPECT_EQ(made.kernel.status, ProgramStatus::measured);
  EXPECT_TRUE(made.over_eager);
  EXPECT_NE(made.notes.back().find("took more than 600 s"), std::string::npos) << made.notes.back();
}

TEST_F(CompareTest, AProcessWithoutAnAnswerIsDataToo) {
  sandbox_.outcome.signal = 9;
  const Comparison made = comparison();
  EXPECT_EQ(made.eager.status, ProgramStatus::crashed);
  EXPECT_EQ(made.kernel.status, ProgramStatus::not_asked);
  EXPECT_FALSE(usable(made));
  EXPECT_NE(made.eager.message.find("signal 9"), std::string::npos);
}

TEST_F(CompareTest, AQuestionWithoutSenseIsAnError) {
  request_.kernel = root_ / "none.py";
  EXPECT_EQ(compare_with_pytorch(request_, sandbox_).error().code, Errc::invalid_input);
  request_.kernel = root_ / "new.py";
  sandbox_.answer = R"({"ok": false, "kind": "device", "message": "this PyTorch cannot use a CUDA device"})";
  EXPECT_EQ(compare_with_pytorch(request_, sandbox_).error().code, Errc::unavailable);
  sandbox_.answer = R"({"ok": false, "kind": "import", "message": "the file cannot be imported", "line": 3})";
  EXPECT_TRUE(compare_with_pytorch(request_, sandbox_)
                  .error()
                  .message.starts_with((root_ / "model.py").string() + ":3: the file cannot"));
}

}  // namespace
}  // namespace kerf::pytorch
