#include "export/shape_ranges.hpp"

#include <gtest/gtest.h>

#include "export/parts.hpp"
#include "report/fixture_run.hpp"
#include "task/task.hpp"

namespace kerf::exporting {
namespace {

Task rmsnorm_task() { return parse_task(report::fixture_task(), "", "rmsnorm.toml").value(); }

TEST(ShapeRanges, AreEveryCombination) {
  const auto sets = parse_shapes("cols=256..1024:256, rows=96", rmsnorm_task());
  ASSERT_TRUE(sets) << sets.error().message;
  ASSERT_EQ(sets->size(), 3u) << "96 x 1024 is a shape set of the task";
  EXPECT_EQ((*sets)[0].name, "rows96_cols256") << "in the task's order";
  EXPECT_EQ((*sets)[2].symbols, (Bindings{{"rows", 96}, {"cols", 768}}));
}

TEST(ShapeRanges, MistakesAreExplained) {
  const Task task = rmsnorm_task();
  const auto message = [&](const char* text) { return parse_shapes(text, task).error().message; };
  EXPECT_NE(message("rows=3").find("'cols' has no value"), std::string::npos);
  EXPECT_NE(message("rows=3,colls=4").find("did you mean 'cols'"), std::string::npos);
  EXPECT_NE(message("rows=3,cols=0").find("cols must be at least 1"), std::string::npos);
  EXPECT_NE(message("rows=3,cols=1..9000").find("more than 64 shapes"), std::string::npos);
  EXPECT_NE(message("rows=3,cols=4..2").find("neither a number nor a range"), std::string::npos);
  EXPECT_NE(message("rows=3,rows=4").find("given twice"), std::string::npos);
  EXPECT_NE(message("rows").find("has no '='"), std::string::npos);
}

TEST(ShapeRanges, TakeTheValuesOfTheNearestSetThatTheKernelAllows) {
  const Task task = rmsnorm_task();
  const auto candidate =
      parse_candidate("k", "/* kerf\ntune: LANES = {4, 1}\nrequire: cols % LANES == 0\n*/\n").value();
  const Winner winner{task, "cpu", candidate, {{"LANES", 4}}, {{"tall", {{"LANES", 1}}}, {"tail", {{"LANES", 1}}}}, ""};
  EXPECT_EQ(tunables_for(winner, {"a", {{"rows", 96}, {"cols", 1028}}, 0, {}}).value().at("LANES"), 4);
  EXPECT_EQ(tunables_for(winner, {"b", {{"rows", 96}, {"cols", 1027}}, 0, {}}).value().at("LANES"), 1);
  const Winner rigid{task, "cpu", candidate, {{"LANES", 4}}, {}, ""};
  const auto refused = tunables_for(rigid, {"c", {{"rows", 96}, {"cols", 1027}}, 0, {}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("cols % LANES == 0"), std::string::npos);
}

}  // namespace
}  // namespace kerf::exporting
