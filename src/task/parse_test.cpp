#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.hpp"
#include "task/task.hpp"

namespace kerf {
namespace {

constexpr auto kRmsnorm = R"(name = "rmsnorm"
description = "root mean square norm"
precision = "f32"
[inputs]
x = "f32[rows, cols]"
w = "f32[cols]"
a = "f32[cols]"
[shapes]
wide = { rows = 64, cols = 4096 }
tail = { rows = 33, cols = 41 }
[reference]
expr = "y = x * rsqrt(mean(x*x, axis=-1, keepdims=true) + 1e-6) * w + a"
outputs = ["y"]
)";

Result<Task> parse(const std::string& text) { return parse_task(text, "/nonexistent", "t.toml"); }

std::string error_of(const std::string& text) {
  const auto task = parse(text);
  return task ? "" : task.error().message;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(ParseTask, ReadsATaskAndKeepsTheOrderOfTheFile) {
  const auto task = parse(kRmsnorm);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->name, "rmsnorm");
  ASSERT_EQ(task->inputs.size(), 3u);
  EXPECT_EQ(task->inputs[0].name, "x");
  EXPECT_EQ(task->inputs[1].name, "w");
  EXPECT_EQ(task->inputs[2].name, "a");
  ASSERT_EQ(task->shapes.size(), 2u);
  EXPECT_EQ(task->shapes[0].name, "wide");
  EXPECT_EQ(task->shapes[1].symbols.at("cols"), 41);
  ASSERT_EQ(task->outputs.size(), 1u);
  EXPECT_EQ(task->outputs[0].name, "y");
  EXPECT_EQ(task->outputs[0].dtype, DType::f32);
  EXPECT_EQ(to_string(task->outputs[0].shape), "[rows, cols]");
  EXPECT_TRUE(task->graph);
  EXPECT_EQ(task->distributions.size(), 3u);
  EXPECT_EQ(symbols_of(*task), (std::vector<std::string>{"cols", "rows"}));
}

TEST(ParseTask, TimesTheFirstSetUnlessWeightsSayOtherwise) {
  EXPECT_EQ(parse(kRmsnorm)->shapes[0].weight, 1);
  EXPECT_EQ(parse(kRmsnorm)->shapes[1].weight, 0);
  const auto weighted = parse(replaced(kRmsnorm, "cols = 41", "cols = 41, weight = 0.5"));
  EXPECT_EQ(weighted->shapes[0].weight, 0);
  EXPECT_EQ(weighted->shapes[1].weight, 0.5);
  EXPECT_HAS(error_of(replaced(kRmsnorm, "cols = 41", "cols = 41, weight = 0")), "nothing would be timed");
  EXPECT_HAS(error_of(replaced(kRmsnorm, "cols = 41", "cols = 41, weight = -1")), "negative");
  for (const char* weight : {"1e308", "1e-320"})
    EXPECT_HAS(error_of(replaced(kRmsnorm, "cols = 41", std::string("cols = 41, weight = ") + weight)),
               "weights are relative: 0, or from");
}

TEST(ParseTask, UsesShapeSetsOnlyForTheirTargets) {
  const auto task = parse(replaced(kRmsnorm, "cols = 41", "cols = 41, weight = 2, targets = [\"cuda\"]"));
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(shapes_for(*task, "cuda").size(), 2u);
  const auto cpu = shapes_for(*task, "cpu");
  ASSERT_EQ(cpu.size(), 1u);
  EXPECT_EQ(cpu[0].name, "wide");
  EXPECT_EQ(cpu[0].weight, 1);  // it is the only one left, so it is timed
}

TEST(ParseTask, NamesTheTaskAfterItsFileWhenItHasNoName) {
  EXPECT_EQ(parse(replaced(kRmsnorm, "name = \"rmsnorm\"\n", ""))->name, "t");
  EXPECT_HAS(error_of(replaced(kRmsnorm, "\"rmsnorm\"", "\"a/b\"")), "t.toml:1:8: 'a/b' cannot name a task");
}

TEST(ParseTask, NamesThePlaceAndTheNearestKey) {
  EXPECT_EQ(error_of(replaced(kRmsnorm, "precision", "precison")).substr(0, 70),
            "t.toml:3:1: unknown key 'precison' (did you mean 'precision'?); choose");
  EXPECT_HAS(error_of(replaced(kRmsnorm, "expr", "exprs")),
             "t.toml:12:1: unknown key 'exprs' in [reference] (did you mean 'expr'?)");
  EXPECT_HAS(error_of(replaced(kRmsnorm, "\"f32\"", "\"f23\"")),
             "unknown precision 'f23' (did you mean 'f32'?); choose one of: f64, f32,");
}

TEST(ParseTask, PlacesSyntaxErrors) { EXPECT_HAS(error_of("name = \n"), "t.toml:1:"); }

TEST(ParseTask, TakesCharactersBeyondAsciiOnlyInStringsAndComments) {
  EXPECT_TRUE(parse(replaced(kRmsnorm, "root mean", "R\u00f6ot \u02e4 mean")));
  EXPECT_TRUE(parse("# \u02e4\n" + std::string(kRmsnorm)));
  EXPECT_TRUE(parse(replaced(kRmsnorm, "\"root mean square norm\"", "\"\"\"say \"\u02e4\"\"\"\"")));
  EXPECT_HAS(error_of(replaced(kRmsnorm, "rows = 33,", "rows \u02e4 33,")), "t.toml:10:15: a character beyond ASCII");
  std::string deep = "a";
  for (int i = 0; i < 50000; ++i) deep += ".a";
  EXPECT_HAS(error_of(kRmsnorm + ("\n" + deep + " = 1\n")), "a key of more than 100 parts");
}

TEST(ParseTask, PlacesErrorsOfTheExpressionInTheFile) {
  const auto one_line = error_of(replaced(kRmsnorm, "rsqrt", "rsqtr"));
  EXPECT_HAS(one_line, "t.toml:12:17: ");
  EXPECT_HAS(one_line, "rsqrt");
  const auto block = error_of(replaced(kRmsnorm, "\"y = x * rsqrt(mean(x*x, axis=-1, keepdims=true) + 1e-6) * w + a\"",
                                       "\"\"\"\nm = mean(x*x, axis=-1, keepdims=true)\ny = x * rsqtr(m)\n\"\"\""));
  EXPECT_HAS(block, "t.toml:14:9: ");
}

TEST(ParseTask, RefusesSetsThatLeaveASymbolOpen) {
  EXPECT_EQ(error_of(replaced(kRmsnorm, "cols = 41", "colls = 41")),
            "t.toml:10:1: shape set 'tail' does not bind 'cols' (is 'colls' meant?)");
  EXPECT_HAS(error_of(replaced(kRmsnorm, "cols = 41", "cols = 41, extra = 4")),
             "shape set 'wide' does not bind 'extra'");
  EXPECT_HAS(error_of("[inputs]\nx = \"f32[n]\"\n[reference]\nexpr = \"y = x\"\n"), "no [shapes] table");
}

TEST(ParseTask, NoticesMisspeltKeysOfAShapeSet) {
  EXPECT_HAS(error_of(replaced(kRmsnorm, "cols = 41", "cols = 41, wieght = 1")),
             "binds 'wieght', which nothing uses (is 'weight' meant?)");
  EXPECT_HAS(error_of(replaced(kRmsnorm, "cols = 41", "cols = 41, target = [\"cpu\"]")), "did you mean 'targets'?");
  const auto used = parse(
      "[inputs]\nx = \"f32[n]\"\n[shapes]\na = { n = 8, height = 2 }\n[reference]\n"
      "expr = \"y = x * height\"\n");
  EXPECT_TRUE(used) << used.error().message;
}

TEST(ParseTask, NeedsNoShapesWhenNothingIsSymbolic) {
  const auto task = parse("[inputs]\nx = \"f32[12]\"\n[reference]\nexpr = \"y = exp(x)\"\n");
  ASSERT_TRUE(task) << task.error().message;
  ASSERT_EQ(task->shapes.size(), 1u);
  EXPECT_EQ(task->shapes[0].weight, 1);
}

TEST(ParseTask, RefusesImpossibleExtents) {
  EXPECT_HAS(error_of(replaced(kRmsnorm, "rows = 33", "rows = -33")), "extents lie between");
  EXPECT_HAS(error_of(replaced(kRmsnorm, "rows = 33", "rows = 0")), "extents lie between 1 and");
  EXPECT_HAS(error_of(replaced(kRmsnorm, "rows = 33", "rows = 0")), "t.toml:10:1: ") << "where the set stands";
  EXPECT_HAS(error_of(replaced(kRmsnorm, "rows = 33", "rows = 33.5")), "must be an integer");
  EXPECT_HAS(error_of(replaced(kRmsnorm, "rows = 33", "rows = 9000000000")), "GiB");
}

TEST(ParseTask, RefusesNamesThatCodeCannotUse) {
  EXPECT_HAS(error_of(replaced(kRmsnorm, "a = \"f32", "int = \"f32")), "reserved word");
  EXPECT_HAS(error_of(replaced(kRmsnorm, "a = \"f32", "softmax = \"f32")), "name of the function");
  EXPECT_HAS(error_of(replaced(kRmsnorm, "a = \"f32", "\"a b\" = \"f32")), "not a name");
  EXPECT_HAS(error_of(replaced(replaced(kRmsnorm, "a = \"f32", "rows = \"f32"), "+ a", "+ rows")),
             "t.toml:7:1: input 'rows' has the name of a shape symbol");
}

TEST(ParseTask, ReadsDistributions) {
  const std::string text = R"toml([inputs]
logits = "f32[rows, classes]"
target = "i64[rows]"
[shapes]
default = { rows = 8, classes = 10 }
[distributions]
target = "integers(0, classes - 1)"
logits = "uniform(-1, 2.5)"
[reference]
expr = "loss = cross_entropy(logits, target)"
)toml";
  const auto task = parse(text);
  ASSERT_TRUE(task) << task.error().message;
  ASSERT_TRUE(task->distributions[0] && task->distributions[1]);
  EXPECT_EQ(task->distributions[0]->kind, InputDistribution::Kind::uniform);
  EXPECT_EQ(task->distributions[0]->b, 2.5);
  EXPECT_TRUE(task->distributions[1]->b_is_dim);
  EXPECT_EQ(task->distributions[1]->b_dim.evaluate({{"classes", 10}}).value(), 9);

  const auto with = [&](const std::string& distribution) {
    return error_of(replaced(text, "integers(0, classes - 1)", distribution));
  };
  EXPECT_HAS(with("integer(0, 9)"), "unknown distribution 'integer' (did you mean 'integers'?)");
  EXPECT_HAS(with("integers(0)"), "takes 2 values, not 1");
  EXPECT_HAS(with("integers(0, clases)"), "clases");
  EXPECT_HAS(with("integers(50, classes)"), "below the lowest");
  EXPECT_HAS(with("normal(0, 1)"), "use integers");
  EXPECT_HAS(with("constant(0.5)"), "0.5 is none");
  EXPECT_HAS(with("integers(0, 9"), "expected one of");
  EXPECT_HAS(error_of(replaced(text, "uniform(-1, 2.5)", "uniform(2, 1)")), "above the lowest");
  EXPECT_HAS(error_of(replaced(text, "uniform(-1, 2.5)", "normal(0, inf)")), "not a finite number");
  EXPECT_HAS(error_of(replaced(text, "target = \"integers(0, classes - 1)\"\n", "")),
             "t.toml:3:1: input 'target' holds integers");
  EXPECT_HAS(error_of(replaced(text, "logits = \"uniform", "logit = \"uniform")), "did you mean 'logits'?");
}

class TaskFiles : public testing::Test {
 protected:
  TaskFiles() { EXPECT_TRUE(write_file_atomic(folder / "ref.cpp", "template <class real> void reference();")); }
  ~TaskFiles() override { std::filesystem::remove_all(folder); }
  Result<Task> parse(const std::string& content) { return parse_task(content, folder, "t.toml"); }

  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      ("kerf_task_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
  const std::string text = R"([inputs]
x = "f32[n]"
[outputs]
y = "f32[n]"
total = "f32[]"
[shapes]
default = { n = 100 }
[reference]
cpp = "ref.cpp"
)";
};

TEST_F(TaskFiles, ReadsACppReferenceWithTypedOutputs) {
  const auto task = parse(text);
  ASSERT_TRUE(task) << task.error().message;
  ASSERT_TRUE(task->cpp);
  EXPECT_FALSE(task->graph);
  EXPECT_EQ(task->cpp->path, "ref.cpp");
  ASSERT_EQ(task->outputs.size(), 2u);
  EXPECT_EQ(task->outputs[0].name, "y");
  const auto ordered = parse(text + "outputs = [\"total\", \"y\"]\n");
  ASSERT_TRUE(ordered) << ordered.error().message;
  EXPECT_EQ(ordered->outputs[0].name, "total");
  EXPECT_FALSE(parse(text + "outputs = [\"total\"]\n"));
  EXPECT_FALSE(parse(replaced(text, "ref.cpp", "missing.cpp")));
  EXPECT_FALSE(parse(replaced(text, "ref.cpp", "/etc/passwd")));
  EXPECT_HAS(parse(replaced(text, "[outputs]\ny = \"f32[n]\"\ntotal = \"f32[]\"\n", "")).error().message,
             "add [outputs]");
}

TEST_F(TaskFiles, ReadsBaselinesAndHoldsThemToTheTask) {
  ASSERT_TRUE(write_file_atomic(folder / "good.cl", "/* kerf\ntarget: opencl\nlaunch: k<<<n, 1>>>(x, y, total)\n*/"));
  ASSERT_TRUE(write_file_atomic(folder / "bad.cl", "/* kerf\ntarget: opencl\nlaunch: k<<<n, 1>>>(x, z, total)\n*/"));
  const auto task = parse(text + "[baselines.vendor]\nkernel = \"good.cl\"\n");
  ASSERT_TRUE(task) << task.error().message;
  ASSERT_EQ(task->baselines.size(), 1u);
  EXPECT_EQ(task->baselines[0].name, "vendor");
  EXPECT_EQ(task->baselines[0].target, "opencl");
  EXPECT_HAS(parse(text + "[baselines.vendor]\nkernel = \"bad.cl\"\n").error().message, "unknown buffer 'z'");
  EXPECT_HAS(parse(text + "[baselines.vendor]\nkernel = \"good.cl\"\ntarget = \"cuda\"\n").error().message,
             "says 'opencl'");
  EXPECT_HAS(parse(text + "[baselines.naive]\nkernel = \"good.cl\"\n").error().message, "is generated");
  EXPECT_HAS(parse(text + "[baselines.vendor]\nkernl = \"good.cl\"\n").error().message, "did you mean 'kernel'?");
}

TEST(TaskId, IgnoresCommentsLayoutAndPaths) {
  const auto id = parse(kRmsnorm)->id;
  EXPECT_EQ(id.size(), 64u);
  EXPECT_EQ(parse("# a comment\n" + std::string(kRmsnorm))->id, id);
  EXPECT_EQ(parse(replaced(kRmsnorm, "x * rsqrt", "x*rsqrt"))->id, id);
  EXPECT_EQ(parse(replaced(kRmsnorm, "root mean", "quadratic mean"))->id, id);
  EXPECT_EQ(parse_task(kRmsnorm, "/elsewhere", "other.toml")->id, id);
}

TEST(TaskId, ChangesWithWhateverCanChangeAVerdict) {
  const auto id = parse(kRmsnorm)->id;
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"1e-6", "1e-5"},
                                                        {"rows = 33", "rows = 34"},
                                                        {"cols = 41", "cols = 41, weight = 1"},
                                                        {"\"f32\"", "\"tf32\""},
                                                        {"[inputs]", "special_values = false\n[inputs]"},
                                                        {"[shapes]", "[distributions]\nx=\"normal(0,2)\"\n[shapes]"}})
    EXPECT_NE(parse(replaced(kRmsnorm, from, to))->id, id) << from;
}

TEST(ParseTask, IndicesMustLieInTheAxisTheyIndex) {
  const std::string text = R"TASK(name = "lookup"
[inputs]
i = "i64[n]"
w = "f32[rows, cols]"
[shapes]
default = { n = 8, rows = 16, cols = 4 }
[distributions]
i = "integers(0, rows - 1)"
[reference]
expr = "y = embedding(i, w)"
)TASK";
  const auto task = parse(text);
  EXPECT_TRUE(task) << task.error().message;
  EXPECT_HAS(error_of(replaced(text, "rows - 1", "rows")),
             "t.toml:8:1: input 'i' indexes an axis of extent rows, which is 16");
  EXPECT_HAS(error_of(replaced(text, "(0, rows - 1)", "(-1, 3)")), "write i = \"integers(0, rows - 1)\"");
}

}  // namespace
}  // namespace kerf
