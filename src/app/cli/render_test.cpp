#include "app/cli/render.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.hpp"

#include <cmath>
#include <limits>

namespace kerf::cli {
namespace {

constexpr Style kPlain{};
constexpr Style kColour{true, true};

Evaluation measured(const std::string& name) {
  Evaluation evaluation;
  evaluation.candidate = name;
  Measurement measurement;
  measurement.shapes.push_back({"default",
                                1,
                                {412.3, 408, 415, 30},
                                {{"naive", {1612, 1600, 1620, 30}}},
                                {{"naive", {"naive", 3.91, 3.87, 3.95}}},
                                SpeedOfLight{260, 0.63, "memory"}});
  measurement.speedup = {"naive", 3.91, 3.87, 3.95};
  evaluation.outcome = measurement;
  return evaluation;
}

Evaluation wrong(const std::string& name) {
  Evaluation evaluation;
  evaluation.candidate = name;
  evaluation.outcome =
      WrongResult{Gate::small_shape, "the values differ",
                  WrongEvidence{"y", "tail", "normal", 3, 7967, {12, 200}, 0.0123, 0, 1.2e-8, {0, 0}, {30, 256}}};
  return evaluation;
}

TEST(UnusualWords, SpeakOnlyWhereTheTimesLieApart) {
  ShapeMeasurement shape;
  shape.shape = "main";
  shape.time = {1320, 1300, 1350, 30};
  Measurement measurement;
  measurement.shapes = {shape};
  EXPECT_EQ(unusual_words(measurement), "");
  measurement.shapes[0].unusual = TimeEstimate{11900, 11800, 12000, 3};
  EXPECT_EQ(unusual_words(measurement), "11.9 ms on data of unusual magnitudes, 9.0 times as long");
  measurement.shapes[0].unusual = TimeEstimate{11900, 1600, 12000, 3};  // one of three was quick: the machine was busy
  EXPECT_EQ(unusual_words(measurement), "");
  measurement.shapes[0].unusual = TimeEstimate{32000, 31000, 33000, 3};
  measurement.shapes.push_back(shape);
  EXPECT_EQ(unusual_words(measurement), "main: 32.0 ms on data of unusual magnitudes, 24 times as long");
}

TEST(FormatTime, ChoosesTheUnit) {
  EXPECT_EQ(format_us(3.256), "3.26 us");
  EXPECT_EQ(format_us(412.3), "412 us");
  EXPECT_EQ(format_us(3200), "3.20 ms");
  EXPECT_EQ(format_us(1.25e6), "1.25 s");
  EXPECT_EQ(format_us(std::nan("")), "?");
  EXPECT_EQ(format_us(std::numeric_limits<double>::infinity()), "?");
}

TEST(FormatSize, ChoosesTheUnit) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(16777216), "16.8 MB");
  EXPECT_EQ(format_flops(268435456), "268 MFLOP");
  EXPECT_EQ(format_flops(0), "0 FLOP");
  EXPECT_EQ(format_flops(33), "33 FLOP");
  EXPECT_EQ(format_flops(1.37e11), "137 GFLOP");
}

TEST(Table, AlignsColumnsAndTrimsLineEnds) {
  EXPECT_EQ(table({{{"a"}, {"b"}}, {{"long"}, {"1", Colour::none, true}}, {{"x"}}}, kPlain), "a     b\nlong  1\nx\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  EXPECT_EQ(table({{{"\u00b5"}, {"b"}}, {{"a"}, {"c"}}}, kPlain), "\u00b5  b\na  c\n");
}

TEST(Table, AColumnThatFoldsIsBrokenOverLinesInsteadOfCut) {
  const std::vector<std::vector<Cell>> rows{{{"name"}, {"words", {}, false, false, true}, {"n"}},
                                            {{"a"}, {"one two three four five"}, {"1"}},
                                            {{"b"}, {"six"}, {"2"}}};
  Style narrow = kPlain;
  narrow.columns = 22;
  EXPECT_EQ(table(rows, narrow),
            "name  words          n\n"
            "a     one two three  1\n"
            "      four five\n"
            "b     six            2\n");
  EXPECT_EQ(table(rows, kPlain),
            "name  words                    n\na     one two three four five  1\nb     six                      2\n");
}

TEST(Errors, AreBrokenAtSpacesAndSetIn) {
  Style narrow = kPlain;
  narrow.columns = 30;
  const Error error{Errc::invalid_input, "there is no folder 'tasks'; give one\nor two"};
  EXPECT_EQ(error_text(error, narrow), "kerf: error: there is no\n  folder 'tasks'; give one\n  or two\n");
  EXPECT_EQ(error_text(error, kPlain), "kerf: error: there is no folder 'tasks'; give one\n  or two\n");
  EXPECT_EQ(note_line("a b\x1b[2J", kPlain), "  .. a b" + printable("\x1b[2J") + "\n");
}

TEST(EvaluationTable, ShowsTimeSpeedupAndSpeedOfLight) {
  const std::vector<Evaluation> evaluations{measured("softmax.cpp"), wrong("zeros.cpp")};
  EXPECT_EQ(
      evaluation_table(evaluations, kPlain),
      "kernel       outcome   shape    time                       speedup                          of speed of light\n"
      "softmax.cpp  measured  default  412 us [408 us .. 415 us]  3.91x [3.87x .. 3.95x] vs naive  63 % (memory)\n"
      "zeros.cpp    wrong result: small shape\n");
}

TEST(EvaluationTable, OnANarrowTerminalTheSpeedupKeepsItsInterval) {
  auto evaluation = measured("runs/a_long_name_of_a_run/softmax.cpp");
  std::get<Measurement>(evaluation.outcome).shapes[0].speed_of_light.reset();
  Style narrow = kPlain;
  narrow.columns = 80;
  EXPECT_EQ(evaluation_table(std::vector{evaluation}, narrow),
            "kernel       outcome   shape    time    speedup\n"
            "softmax.cpp  measured  default  412 us  3.91x [3.87x .. 3.95x] vs naive\n");
}

TEST(EvaluationTable, HasARowPerShapeAndOneForAll) {
  auto evaluation = measured("k.cu");
  auto& measurement = std::get<Measurement>(evaluation.outcome);
  measurement.shapes.push_back(measurement.shapes[0]);
  measurement.shapes[1].shape = "wide";
  const auto text = evaluation_table(std::vector{evaluation}, kPlain);
  EXPECT_NE(text.find("wide"), std::string::npos);
  EXPECT_NE(text.find("all"), std::string::npos);
  EXPECT_EQ(text.find("k.cu"), text.rfind("k.cu"));
}

TEST(EvaluationTable, SaysSoWhenNothingWasTimed) {
  Evaluation evaluation;
  evaluation.candidate = "k.cu";
  evaluation.outcome = Measurement{};
  EXPECT_EQ(evaluation_table(std::vector{evaluation}, kPlain), "kernel  outcome\nk.cu    verified, not timed\n");
}

TEST(EvaluationTable, UsesColourOnlyWhenAsked) {
  const std::vector<Evaluation> evaluations{measured("k.cu")};
  EXPECT_EQ(evaluation_table(evaluations, kPlain).find('\033'), std::string::npos);
  EXPECT_NE(evaluation_table(evaluations, kColour).find("\033[32m"), std::string::npos);
}

TEST(FailureReport, TellsGateAndEvidence) {
  EXPECT_EQ(failure_report(wrong("zeros.cpp"), kPlain),
            "zeros.cpp: wrong result at gate 'small shape'\n"
            "  output y, shape tail, data normal: 3 of 7967 elements are wrong\n"
            "  worst at [12, 200]: expected 0.0123, got 0, tolerance 1.2e-08\n"
            "  wrong elements lie between [0, 0] and [30, 256]\n");
  EXPECT_EQ(failure_report(measured("k.cu"), kPlain), "");
}

TEST(FailureReport, TellsWhatHelpsAgainstRounding) {
  Evaluation near = wrong("chain.cpp");
  auto& evidence = *std::get<WrongResult>(near.outcome).evidence;
  evidence.actual = evidence.expected + 3 * evidence.tolerance;
  EXPECT_NE(failure_report(near, kPlain).find("\n  3 times the tolerance is a matter of rounding"), std::string::npos);
  evidence.actual = std::nan("");
  EXPECT_EQ(failure_report(near, kPlain).find("rounding"), std::string::npos);
}

TEST(FailureReport, ShortensCompilerLogs) {
  Evaluation evaluation;
  evaluation.candidate = "k.cpp";
  std::string log;
  for (int i = 0; i < 50; ++i) log += "error " + std::to_string(i) + "\n";
  evaluation.outcome = BuildFailed{"tail", log};
  const auto text = failure_report(evaluation, kPlain);
  EXPECT_EQ(text.substr(0, 40), "k.cpp: does not compile for shape tail\n ");
  EXPECT_NE(text.find("... 30 more lines"), std::string::npos);
}

TEST(Printable, DefusesTerminalControl) {
  EXPECT_EQ(printable("a\033[2Jb\x07\r\n\tc"), "a?[2Jb?\n\tc");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "31mb \xC3\xA9"),
            "a?31mb \xC3\xA9");
}

TEST(Table, IsCutToTheTerminalButNotInFiles) {
  const std::string wide(60, 'x');
  const std::vector<std::vector<Cell>> rows{{{"step"}, {"kernel"}, {"tunables"}}, {{"17"}, {wide}, {wide}}};
  const auto longest = [](const std::string& text) {
    std::size_t most = 0;
    for (const auto& line : split(text, '\n')) most = std::max(most, line.size());
    return most;
  };
  EXPECT_EQ(longest(table(rows, {false, false, 80})), 80u);
  EXPECT_EQ(longest(table(rows, {})), 128u);
  EXPECT_NE(table(rows, {false, false, 80}).find("17"), std::string::npos);
}

TEST(Wrapped, BreaksAtSpacesAndKeepsDescriptionsInTheirColumn) {
  EXPECT_EQ(wrapped("  --evals NUMBER      Most evaluations of a run in total\nnext\n", 42),
            "  --evals NUMBER      Most evaluations of\n                      a run in total\nnext\n");
  EXPECT_EQ(wrapped("a paragraph that goes on over two lines of\nits text\n\nend\n", 30),
            "a paragraph that goes on over\ntwo lines of its text\n\nend\n");
  EXPECT_EQ(wrapped("  kerf tune task.toml kernel.cpp    within two minutes\n", 40),
            "  kerf tune task.toml kernel.cpp\n      within two minutes\n");
  EXPECT_EQ(wrapped("short\n", 30), "short\n");
  const std::string word(50, 'x');
  EXPECT_EQ(wrapped(word + "\n", 30), word + "\n");
}

TEST(TierLine, MarksSuccessAndFailure) {
  EXPECT_EQ(tier_line({"k", "compile", true, 412, "3 shapes"}, kPlain), "  ok  compile          412 ms  3 shapes\n");
  EXPECT_EQ(tier_line({"k", "static", false, 0.2, "wrong_result"}, kPlain),
            "  NO  static           200 us  wrong result\n");
  EXPECT_NE(tier_line({"k", "compile", true, 1, ""}, kColour).find("\u2713"), std::string::npos);
}

TEST(ErrorText, PointsToTheDoctorWhenSomethingIsMissing) {
  EXPECT_EQ(error_text({Errc::invalid_input, "t.toml:1:2: bad"}, kPlain), "kerf: error: t.toml:1:2: bad\n");
  EXPECT_NE(error_text({Errc::unavailable, "no CUDA device"}, kPlain).find("kerf doctor"), std::string::npos);
}

}  // namespace
}  // namespace kerf::cli
