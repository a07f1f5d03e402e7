#include "model/evaluation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace kerf {
namespace {

Evaluation measured() {
  Evaluation evaluation;
  evaluation.task = "softmax";
  evaluation.task_id = "t1";
  evaluation.target = "cuda";
  evaluation.device = "NVIDIA H200";
  evaluation.candidate = "softmax.cu";
  evaluation.candidate_id = "c1";
  evaluation.toolchain = "nvrtc 13.0";
  evaluation.tunables = {{"BLOCK", 256}};
  Measurement measurement;
  measurement.shapes.push_back({"small", 1, {1, 0.5, 2, 9}, {}, {}, std::nullopt});
  measurement.shapes.push_back({"default",
                                3,
                                {10, 9.5, 10.5, 30},
                                {{"naive", {40, 39, 41, 30}}},
                                {{"naive", {"naive", 4, 3.9, 4.1}}},
                                SpeedOfLight{5, 0.5, "memory"}});
  measurement.speedup = {"naive", 4, 3.9, 4.1};
  evaluation.outcome = measurement;
  evaluation.tiers = {{"compile", 21.5}};
  evaluation.preparation = {{"large: data and oracle", 250}};
  evaluation.notes = {"a note"};
  return evaluation;
}

TEST(EvaluationJson, KeepsTheCellOfTheArchive) {
  Evaluation evaluation = measured();
  evaluation.cell = {1, 2, 0};
  const auto json = nlohmann::json::parse(to_json(evaluation));
  EXPECT_EQ(json.at("cell"), nlohmann::json::parse("[1, 2, 0]"));
  const auto back = evaluation_from_json(to_json(evaluation));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->cell, evaluation.cell);
}

TEST(EvaluationJson, KeepsTheComparison) {
  Evaluation evaluation = measured();
  EXPECT_FALSE(nlohmann::json::parse(to_json(evaluation)).contains("comparison"));
  std::get<Measurement>(evaluation.outcome).comparison = PairedComparison{12, 3.25, 1.0625, 1.03, 1.1};
  const auto back = evaluation_from_json(to_json(evaluation));
  ASSERT_TRUE(back) << back.error().message;
  const auto& comparison = std::get<Measurement>(back->outcome).comparison;
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->step, 12);
  EXPECT_EQ(comparison->its_speedup, 3.25);
  EXPECT_EQ(comparison->ratio, 1.0625);
  EXPECT_EQ(comparison->low, 1.03);
  EXPECT_EQ(comparison->high, 1.1);
}

TEST(EvaluationJson, KeepsTheTimeOnUnusualData) {
  Evaluation evaluation = measured();
  EXPECT_FALSE(nlohmann::json::parse(to_json(evaluation)).at("shapes").at(0).contains("unusual_us"));
  std::get<Measurement>(evaluation.outcome).shapes.at(0).unusual = TimeEstimate{30, 29, 33, 3};
  const auto back = evaluation_from_json(to_json(evaluation));
  ASSERT_TRUE(back) << back.error().message;
  const auto& unusual = std::get<Measurement>(back->outcome).shapes.at(0).unusual;
  ASSERT_TRUE(unusual);
  EXPECT_EQ(unusual->median, 30);
  EXPECT_EQ(unusual->high, 33);
  EXPECT_EQ(unusual->samples, 3);
}

TEST(EvaluationJson, HasTheStableFields) {
  const auto json = nlohmann::json::parse(to_json(measured()));
  EXPECT_EQ(json.at("schema"), kEvaluationSchema);
  EXPECT_EQ(json.at("task"), "softmax");
  EXPECT_EQ(json.at("target"), "cuda");
  EXPECT_EQ(json.at("device"), "NVIDIA H200");
  EXPECT_EQ(json.at("candidate"), "c1");
  EXPECT_EQ(json.at("outcome"), "measured");
  EXPECT_FALSE(json.contains("gate"));
  EXPECT_EQ(json.at("time_us").at("median"), 10);  // of the set with the largest weight
  EXPECT_EQ(json.at("time_us").at("samples"), 30);
  EXPECT_EQ(json.at("baselines").at("naive").at("low"), 39);
  EXPECT_EQ(json.at("speedup").at("vs"), "naive");
  EXPECT_EQ(json.at("speedup").at("ratio"), 4);
  EXPECT_EQ(json.at("speed_of_light").at("floor_us"), 5);
  EXPECT_EQ(json.at("speed_of_light").at("bound"), "memory");
  EXPECT_TRUE(json.at("cell").is_null());
  EXPECT_EQ(json.at("tunables").at("BLOCK"), 256);
  EXPECT_EQ(json.at("toolchain"), "nvrtc 13.0");
  EXPECT_EQ(json.at("shapes").size(), 2u);
  EXPECT_EQ(json.at("tiers").at(0).at("tier"), "compile");
  EXPECT_EQ(json.at("preparation").at(0).at("part"), "large: data and oracle");
  EXPECT_EQ(json.at("preparation").at(0).at("ms"), 250);
  EXPECT_EQ(json.at("notes").at(0), "a note");
}

TEST(EvaluationJson, GivesGateMessageAndEvidenceOnFailure) {
  Evaluation evaluation;
  WrongEvidence evidence{"y", "tail", "normal", 3, 99, {1, 2}, 1.5, std::nan(""), 1e-6, {0, 0}, {1, 2}};
  evaluation.outcome = WrongResult{Gate::values, "3 of 99 elements are wrong", evidence};
  const auto json = nlohmann::json::parse(to_json(evaluation));
  EXPECT_EQ(json.at("outcome"), "wrong_result");
  EXPECT_EQ(json.at("gate"), "values");
  EXPECT_EQ(json.at("message"), "3 of 99 elements are wrong");
  EXPECT_EQ(json.at("evidence").at("worst_index"), (std::vector<int>{1, 2}));
  EXPECT_TRUE(json.at("evidence").at("actual").is_null());
  EXPECT_FALSE(json.contains("time_us"));
}

TEST(EvaluationJson, ReadsBackWhatItWrote) {
  std::vector<Evaluation> evaluations(6, measured());
  evaluations[1].outcome = BuildFailed{"tail", "no such function"};
  evaluations[2].outcome =
      WrongResult{Gate::values, "wrong", WrongEvidence{"y", "tail", "normal", 3, 99, {1}, 1, 2, 3, {0}, {1}}};
  evaluations[3].outcome = Crashed{Gate::small_shape, "signal 11"};
  evaluations[4].outcome = TimedOut{Gate::all_shapes, "2 s"};
  evaluations[5].outcome = Rejected{Gate::red_zone, "wrote outside 'y'"};
  for (const auto& evaluation : evaluations) {
    const std::string text = to_json(evaluation);
    const auto again = evaluation_from_json(text);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_json(*again), text);
    EXPECT_EQ(again->outcome.index(), evaluation.outcome.index());
  }
}

TEST(EvaluationJson, WritesNullForNumbersThatAreNotFinite) {
  auto evaluation = measured();
  auto& measurement = std::get<Measurement>(evaluation.outcome);
  measurement.shapes[1].time.high = std::numeric_limits<double>::infinity();
  measurement.speedup.low = std::nan("");
  const auto json = nlohmann::json::parse(to_json(evaluation));
  EXPECT_TRUE(json.at("time_us").at("high").is_null());
  EXPECT_TRUE(json.at("speedup").at("low").is_null());
  EXPECT_TRUE(std::isnan(std::get<Measurement>(evaluation_from_json(to_json(evaluation))->outcome).speedup.low));
}

TEST(EvaluationJson, RepairsTextThatIsNotUtf8) {
  Evaluation evaluation;
  evaluation.outcome = BuildFailed{"tail", "bad byte \xff here"};
  const auto json = nlohmann::json::parse(to_json(evaluation));
  EXPECT_EQ(json.at("message"), "bad byte \xEF\xBF\xBD here");
}

TEST(EvaluationJson, RefusesOtherSchemasAndDamagedText) {
  EXPECT_FALSE(evaluation_from_json("{}"));
  EXPECT_FALSE(evaluation_from_json("[1"));
  auto json = nlohmann::json::parse(to_json(measured()));
  json["schema"] = 99;
  EXPECT_NE(evaluation_from_json(json.dump()).error().message.find("schema 99"), std::string::npos);
  json["schema"] = kEvaluationSchema;
  json["outcome"] = "fine";
  EXPECT_FALSE(evaluation_from_json(json.dump()));
  json["outcome"] = "rejected";
  json["gate"] = "no such gate";
  json["message"] = "";
  EXPECT_NE(evaluation_from_json(json.dump()).error().message.find("unknown gate 'no such gate'"), std::string::npos);
}

TEST(EvaluationJson, KeepsTheLowerQuartileWhereThereIsOne) {
  auto evaluation = measured();
  EXPECT_FALSE(nlohmann::json::parse(to_json(evaluation)).at("time_us").contains("lower_quartile"));
  std::get<Measurement>(evaluation.outcome).shapes[1].time.lower_quartile = 9.75;
  const auto back = evaluation_from_json(to_json(evaluation));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(std::get<Measurement>(back->outcome).shapes[1].time.lower_quartile, 9.75);
}

TEST(Measurement, BeatsItsBaselineOnlyBeyondTheNoise) {
  Measurement measurement = std::get<Measurement>(measured().outcome);
  EXPECT_TRUE(beats_baseline(measurement));
  EXPECT_EQ(nlohmann::json::parse(to_json(measured())).at("beats_baseline"), true);
  measurement.speedup = {"naive", 1.1, 0.98, 1.3};
  EXPECT_FALSE(beats_baseline(measurement));
  measurement.speedup = {"naive", 0.72, 0.7, 0.74};
  EXPECT_FALSE(beats_baseline(measurement));
  EXPECT_FALSE(beats_baseline(Measurement{}));
}

TEST(ShapeMeasurement, TheTimeBeforeAgreesWithTheTimeAfterAndTheRatio) {
  ShapeMeasurement shape;
  shape.time = {3.8, 3.7, 3.9, 60};
  shape.baselines["naive"] = {13.1, 13, 14, 5};  // from other rounds: not what the ratio is made of
  shape.speedups["naive"] = {"naive", 6.36, 6, 7};
  EXPECT_DOUBLE_EQ(before_us(shape, "naive").value_or(0), 3.8 * 6.36);
  EXPECT_EQ(before_us(shape, "vendor"), std::nullopt);
}

TEST(Outcome, SpeaksOfItsGate) {
  EXPECT_EQ(outcome_name(Measurement{}), "measured");
  EXPECT_EQ(outcome_gate(Measurement{}), "");
  EXPECT_EQ(outcome_gate(BuildFailed{"s", "log"}), "compile");
  EXPECT_EQ(outcome_message(BuildFailed{"s", "log"}), "log");
  EXPECT_EQ(outcome_gate(Rejected{Gate::red_zone, "m"}), "red_zone");
}

}  // namespace
}  // namespace kerf
