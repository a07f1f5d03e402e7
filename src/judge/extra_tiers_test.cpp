#include <bit>
#include <cmath>

#include "judge/judge_fixture.hpp"

namespace kerf {
namespace {

/// Depends on every bit, so that any two words differ in it half of the time.
std::uint32_t parity(std::uint32_t word) { return static_cast<std::uint32_t>(std::popcount(word)) & 1; }

/// Kernels whose bits differ from call to call, and kernels that are wrong now and then.
class ExtraTiersTest : public JudgeTest {
 protected:
  ExtraTiersTest() {
    device_->behaviour = [this](const Artifact& artifact, const Bindings& constants) {
      FakeBench::Kernel kernel = behave(artifact.bytes, constants.at("n"));
      const auto says = [&](const char* word) { return artifact.bytes.find(word) != std::string::npos; };
      if (says("naive"))  // off by a bit everywhere, so that a bit is honest
        kernel.body = [](FakeBuffers& b) {
          twice(b);
          for (std::size_t i = 0; i < b[1].bytes.size() / sizeof(float); ++i) b[1].as<std::uint32_t>()[i] ^= 1;
        };
      if (says("other bits"))
        kernel.body = [this](FakeBuffers& b) {
          twice(b);
          b[1].as<std::uint32_t>()[0] ^= static_cast<std::uint32_t>(++calls_ & 1);
        };
      if (says("neighbours"))
        kernel.body = [](FakeBuffers& b) {
          twice(b);
          b[1].as<std::uint32_t>()[0] ^= parity(b[0].as<std::uint32_t>()[1]);
          b[1].as<std::uint32_t>()[1] ^= parity(b[0].as<std::uint32_t>()[2]);
          b[1].as<std::uint32_t>()[2] ^= parity(b[0].as<std::uint32_t>()[3]);
          b[1].as<std::uint32_t>()[3] ^= parity(b[0].as<std::uint32_t>()[4]);
        };
      if (says("rarely"))
        kernel.body = [this](FakeBuffers& b) {
          twice(b);
          if (++calls_ > 400 && calls_ % 700 == 0) b[1].as<float>()[2] += 1;
        };
      return kernel;
    };
  }
  void require(const std::string& what) {
    task_ =
        parse_task("name = \"double\"\nrequire = [\"" + what +
                       "\"]\n[inputs]\nx = \"f32[n]\"\n[shapes]\nlarge = { n = 12, weight = 1 }\nsmall = { n = 6 }\n"
                       "[reference]\nexpr = \"y = 2 * x\"\noutputs = [\"y\"]\n",
                   ".", "double.toml")
            .value();
  }
  static JudgeOptions certified() {
    JudgeOptions options;
    options.certify = true;
    options.soak_seconds = 0.1;  // 10 us a call: up to 10,000 calls
    return options;
  }
  int calls_ = 0;
};

TEST_F(ExtraTiersTest, WhatIsNotRequiredIsNoted) {
  const auto plain = evaluate(judge(), candidate("plain"));
  EXPECT_TRUE(plain.seen.deterministic.value());
  EXPECT_TRUE(plain.seen.batch_invariant.value());
  EXPECT_FALSE(plain.certification);
  const auto other = evaluate(*judge_, candidate("other bits"));
  EXPECT_EQ(outcome_name(other.outcome), "measured");
  EXPECT_FALSE(other.seen.deterministic.value());
  EXPECT_FALSE(evaluate(*judge_, candidate("neighbours")).seen.batch_invariant.value());
}

TEST_F(ExtraTiersTest, WhatIsRequiredIsAGate) {
  require("deterministic");
  EXPECT_EQ(outcome_gate(evaluate(judge(), candidate("other bits")).outcome), "deterministic");
  EXPECT_EQ(outcome_name(evaluate(*judge_, candidate("plain")).outcome), "measured");
  EXPECT_EQ(outcome_name(evaluate(*judge_, candidate("neighbours")).outcome), "measured");
  require("batch_invariant");
  const auto refused = evaluate(judge(), candidate("neighbours"));
  EXPECT_EQ(outcome_gate(refused.outcome), "batch_invariant");
  EXPECT_NE(outcome_message(refused.outcome).find("the task requires 'batch_invariant'"), std::string::npos);
  EXPECT_EQ(outcome_name(evaluate(*judge_, candidate("plain")).outcome), "measured");
}

TEST_F(ExtraTiersTest, ACertifiedKernelWasCalledThousandsOfTimes) {
  const auto evaluation = evaluate(judge(certified()), candidate("plain"));
  EXPECT_EQ(outcome_name(evaluation.outcome), "measured");
  ASSERT_TRUE(evaluation.certification);
  EXPECT_GT(evaluation.certification->calls, 2000);
  EXPECT_EQ(evaluation.tiers.back().tier, "soak");
  const auto back = evaluation_from_json(to_json(evaluation)).value();
  EXPECT_EQ(back.certification->calls, evaluation.certification->calls);
  EXPECT_EQ(back.seen.deterministic, evaluation.seen.deterministic);
}

TEST_F(ExtraTiersTest, AKernelThatIsRarelyWrongIsNotCertified) {
  const auto evaluation = evaluate(judge(certified()), candidate("rarely"));
  EXPECT_EQ(outcome_name(evaluation.outcome), "wrong_result");
  EXPECT_EQ(outcome_gate(evaluation.outcome), "soak");
  EXPECT_FALSE(evaluation.certification);
}

TEST_F(JudgeTest, AfterItsTimingAKernelStillKnowsNanAndInfinities) {
  int calls = 0, right_calls = 1 << 20;
  device_->told.runs_on_host = true;
  device_->behaviour = [&](const Artifact& artifact, const Bindings& constants) {
    FakeBench::Kernel kernel = behave(artifact.bytes, constants.at("n"));
    if (artifact.bytes.find("no NaN later") == std::string::npos) return kernel;
    kernel.body = [&](FakeBuffers& b) {
      twice(b);
      ++calls;
      for (std::size_t i = 0; calls > right_calls && i < b[1].bytes.size() / sizeof(float); ++i)
        if (!std::isfinite(b[1].as<float>()[i])) b[1].as<float>()[i] = 0;
    };
    return kernel;
  };
  EXPECT_TRUE(std::holds_alternative<Measurement>(evaluate(judge(), candidate("no NaN later")).outcome));
  right_calls = calls - 2;
  calls = 0;
  const Evaluation evaluation = evaluate(judge(), candidate("no NaN later"));
  const auto* wrong = std::get_if<WrongResult>(&evaluation.outcome);
  ASSERT_NE(wrong, nullptr) << outcome_name(evaluation.outcome) << " after " << calls << " calls";
  EXPECT_NE(wrong->message.find("specials"), std::string::npos) << wrong->message;
  EXPECT_EQ(observer_.tiers.back().tier, "timing");
}

TEST_F(JudgeTest, AfterItsTimingAKernelStillHasItsPrecision) {
  int calls = 0, right_calls = 1 << 20;
  device_->told.runs_on_host = true;
  device_->behaviour = [&](const Artifact& artifact, const Bindings& constants) {
    FakeBench::Kernel kernel = behave(artifact.bytes, constants.at("n"));
    if (artifact.bytes.find("rounds later") == std::string::npos) return kernel;
    kernel.body = [&](FakeBuffers& b) {
      twice(b);
      for (std::size_t i = 0; calls >= right_calls && i < b[1].bytes.size() / sizeof(float); ++i)
        b[1].as<std::uint32_t>()[i] &= 0xfffff000U;
      ++calls;
    };
    return kernel;
  };
  EXPECT_TRUE(std::holds_alternative<Measurement>(evaluate(judge(), candidate("rounds later")).outcome));
  right_calls = calls - 3;  // two on ordinary data and one on special values
  calls = 0;
  const Evaluation evaluation = evaluate(judge(), candidate("rounds later"));
  const auto* wrong = std::get_if<WrongResult>(&evaluation.outcome);
  ASSERT_NE(wrong, nullptr) << outcome_name(evaluation.outcome) << " after " << calls << " calls";
  EXPECT_NE(wrong->message.find("normal"), std::string::npos) << wrong->message;
  EXPECT_EQ(observer_.tiers.back().tier, "timing");
}

}  // namespace
}  // namespace kerf
