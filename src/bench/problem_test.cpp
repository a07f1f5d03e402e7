#include "bench/problem.hpp"

#include <gtest/gtest.h>

#include "bench/bench_fixture.hpp"

namespace kerf::bench {
namespace {

using test::put;
using test::TempFolder;

std::vector<std::string> ids(const Result<std::vector<Problem>>& found) {
  std::vector<std::string> list;
  if (found)
    for (const Problem& one : *found) list.push_back(problem_id(one));
  return list;
}

struct Layout : ::testing::Test {
  Layout() {
    for (const char* file : {"level1/2_B.py", "level1/10_J.py", "level1/1_A.py", "level1/notes.py", "level2/1_C.py"})
      put(folder.path / "KernelBench" / file, "");
  }
  Wanted wanted(const std::string& levels = "", const std::string& problems = "") {
    Wanted one;
    one.path = folder.path;
    one.levels = parse_selection("--level", levels).value();
    one.problems = parse_selection("--problems", problems).value();
    return one;
  }
  TempFolder folder;
};

TEST_F(Layout, NumbersAreSortedAsNumbers) {
  EXPECT_EQ(ids(find_problems(wanted())), (std::vector<std::string>{"1/1", "1/2", "1/10", "2/1"}));
}

TEST_F(Layout, TheRepositoryItsFolderOrALevelMayBeNamed) {
  Wanted one = wanted("1");
  const auto expected = ids(find_problems(one));
  one.path = folder.path / "KernelBench";
  EXPECT_EQ(ids(find_problems(one)), expected);
  one.path = folder.path / "KernelBench" / "level1";
  EXPECT_EQ(ids(find_problems(one)), expected);
  one.path = folder.path / "KernelBench" / "level1" / "";
  EXPECT_EQ(ids(find_problems(one)), expected);
}

TEST_F(Layout, RangesAndNamesChoose) {
  EXPECT_EQ(ids(find_problems(wanted("1", "2-100"))), (std::vector<std::string>{"1/2", "1/10"}));
  EXPECT_EQ(ids(find_problems(wanted("1,2", "1"))), (std::vector<std::string>{"1/1", "2/1"}));
  EXPECT_EQ(ids(find_problems(wanted("", "10_J,2"))), (std::vector<std::string>{"1/2", "1/10"}));
}

TEST_F(Layout, WhatIsNotThereIsNamedWithTheNearest) {
  const auto level = find_problems(wanted("4"));
  ASSERT_FALSE(level);
  EXPECT_EQ(level.error().code, Errc::invalid_input);
  EXPECT_NE(level.error().message.find("no level 4; the nearest is 2 (there are 1-2)"), std::string::npos)
      << level.error().message;
  const auto problem = find_problems(wanted("1", "11"));
  ASSERT_FALSE(problem);
  EXPECT_NE(problem.error().message.find("nearest is 10"), std::string::npos) << problem.error().message;
  const auto name = find_problems(wanted("1", "10_K"));
  ASSERT_FALSE(name);
  EXPECT_NE(name.error().message.find("did you mean '10_J'"), std::string::npos) << name.error().message;
}

TEST_F(Layout, AFolderWithoutLevelsIsRefused) {
  Wanted one = wanted();
  one.path = folder.path / "missing";
  EXPECT_EQ(find_problems(one).error().code, Errc::not_found);
  std::filesystem::create_directories(folder.path / "empty");
  one.path = folder.path / "empty";
  EXPECT_EQ(find_problems(one).error().code, Errc::not_found);
}

TEST_F(Layout, TwoProblemsOfOneNumberAreRefused) {
  put(folder.path / "KernelBench/level1/2_Other.py", "");
  EXPECT_EQ(find_problems(wanted()).error().code, Errc::invalid_input);
}

TEST(Selection, SaysWhatIsWrong) {
  const auto message = [](const std::string& text) {
    const auto parsed = parse_selection("--problems", text);
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_EQ(message("1,5-9, 12 "), "");
  EXPECT_NE(message("9-5").find("did you mean '5-9'"), std::string::npos) << message("9-5");
  EXPECT_NE(message("1,,2").find("is empty"), std::string::npos);
  EXPECT_NE(message("5-").find("'5-' is neither a number nor a range"), std::string::npos);
  EXPECT_NE(message("-3").find("neither"), std::string::npos);
  EXPECT_NE(message("1.5").find("neither"), std::string::npos);
  EXPECT_NE(message("99999999999").find("neither"), std::string::npos);
}

TEST(RobustKbench, SettingsBecomeProblemsWithTheirArguments) {
  const TempFolder folder;
  put(folder.path / "tasks/block/func_forward.py", "def get_inputs(batch_size=1):\n    return []\n");
  put(folder.path / "tasks/block/config_forward.json",
      R"({"single_input_configs": [{"batch_size": 4}], "single_init_configs": [{"out": 8}, {"out": 16, "flag": false}],
          "single_shared_configs": [{"width": 3, "batch_size": 2}],
          "multi_input_configs": [{}, {}], "multi_init_configs": [{}, {}, {}], "multi_shared_configs": [{}]})");
  put(folder.path / "tasks/kernelbench/level_1/task_2/func_forward.py", "");
  put(folder.path / "tasks/kernelbench/level_1/task_2/2_Two.py", "");
  put(folder.path / "tasks/kernelbench/level_1/task_2/config_forward.json", "{}");
  Wanted wanted;
  wanted.suite = Suite::robust_kbench;
  wanted.path = folder.path;
  const auto found = find_problems(wanted);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(ids(found), (std::vector<std::string>{"own/1.1", "own/1.2", "1/2"}));
  EXPECT_EQ((*found)[0].inputs, R"({"batch_size":2,"width":3})") << "what is shared overrides";
  EXPECT_EQ((*found)[1].init, R"({"out":16,"flag":false,"width":3,"batch_size":2})");
  EXPECT_EQ((*found)[2].name, "2_Two");
  EXPECT_EQ(problem_folder((*found)[1]), "own/block.2");
  const std::string text = model_text((*found)[1]).value();
  EXPECT_TRUE(text.starts_with("def get_inputs(batch_size=1):"))
      << "lines of messages are those of the benchmark's file";
  EXPECT_NE(text.find(R"(loads("{\"out\":16,)"), std::string::npos) << text;
  wanted.every_setting = true;
  wanted.problems = parse_selection("--problems", "block").value();
  EXPECT_EQ(ids(find_problems(wanted)).size(), 6u);
  put(folder.path / "tasks/block/config_forward.json", "[");
  EXPECT_EQ(find_problems(wanted).error().code, Errc::invalid_input);
}

}  // namespace
}  // namespace kerf::bench
