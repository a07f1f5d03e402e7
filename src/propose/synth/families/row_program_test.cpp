#include "propose/synth/families/row_program.hpp"

#include <gtest/gtest.h>

#include "ir/expression/expression.hpp"
#include "propose/synth/families/families.hpp"
#include "propose/synth/partition.hpp"
#include "propose/synth/render.hpp"

namespace kerf::synth {
namespace {

/// A whole expression as one group.
struct RowCase {
  Partition partition;
  codegen::BufferPlan plan;
  const Group& group() const { return partition.groups.front(); }
};

RowCase row_case(const std::string& expression, const std::vector<std::pair<std::string, std::string>>& inputs) {
  std::vector<ir::TensorType> types;
  for (const auto& [name, type] : inputs) types.push_back(*ir::parse_tensor_type(name, type));
  const Bindings symbols{{"rows", 8}, {"cols", 12}, {"n", 6}, {"b", 2}, {"c", 8}, {"h", 3}};
  auto graph = ir::parse_expression(expression, types, {"y"}, {symbols});
  KERF_CHECK(graph.has_value(), graph ? "" : graph.error().message.c_str());
  auto partition = make_partition(ir::simplify(*graph), {}, {});
  KERF_CHECK(partition.has_value(), "no partition");
  RowCase result{*std::move(partition), {}};
  result.plan = inside(result.partition.plan, result.partition.groups.front());
  return result;
}

std::optional<RowProgram> program_of(const RowCase& all) { return row_program(all.plan, all.group()); }

TEST(RowProgram, SoftmaxIsTwoReductionsAndAnOutputPerColumn) {
  const RowCase all = row_case("y = softmax(x, axis=-1)", {{"x", "f32[rows, cols]"}});
  const auto program = program_of(all);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->reduces.size(), 2u);
  EXPECT_TRUE(program->per_element);
  EXPECT_TRUE(program->fast_columns);
  EXPECT_EQ(pair_from(*program, all.plan, 0), Pair::online);
}

TEST(RowProgram, MeanAndVarianceAreAPairOnlyWhenTheCountIsTheRowsLength) {
  const auto pair = [](const std::string& divisor) {
    const RowCase all =
        row_case("m = sum(x, axis=-1, keepdims=true) / " + divisor + "\ny = sum((x - m) * (x - m), axis=-1)",
                 {{"x", "f32[rows, 12]"}});
    const auto program = program_of(all);
    return program ? pair_from(*program, all.plan, 0) : Pair::online;
  };
  EXPECT_EQ(pair("12.0"), Pair::moments);
  EXPECT_EQ(pair("11.0"), Pair::none);
}

TEST(RowProgram, ReductionOverAnInnerAxisRunsOverNeighbouringRows) {
  const RowCase all = row_case("y = sum(x, axis=0)", {{"x", "f32[rows, cols]"}});
  const auto program = program_of(all);
  ASSERT_TRUE(program);
  EXPECT_FALSE(program->fast_columns);
  EXPECT_FALSE(program->per_element);
  EXPECT_TRUE(column_family().fits(all.plan, all.group()));
  EXPECT_FALSE(row_family().fits(all.plan, all.group()));
}

TEST(RowProgram, SumOfARowUsedAlongTheColumnsIsNone) {
  EXPECT_FALSE(program_of(row_case("y = x - sum(x, axis=1)", {{"x", "f32[n, n]"}})));
  EXPECT_TRUE(program_of(row_case("y = x - sum(x, axis=1, keepdims=true)", {{"x", "f32[n, n]"}})));
}

TEST(RowProgram, ReductionsOverDifferentAxesAreNone) {
  EXPECT_FALSE(program_of(
      row_case("y = x - sum(x, axis=1, keepdims=true) - sum(x, axis=0, keepdims=true)", {{"x", "f32[n, n]"}})));
}

TEST(RowProgram, TransposedResultIsNone) {
  EXPECT_FALSE(program_of(row_case("y = transpose(softmax(x, axis=1), [1, 0])", {{"x", "f32[n, n]"}})));
}

TEST(RowProgram, ChannelsOfAGroupNormAreConstantAlongARun) {
  const RowCase all = row_case("y = group_norm(x, 4, g)", {{"x", "f32[b, c, h]"}, {"g", "f32[c]"}});
  auto program = program_of(all);
  ASSERT_TRUE(program);
  shorten_run(*program, all.group(), all.plan, {{"default", {{"b", 2}, {"c", 8}, {"h", 3}}, 1, {}}});
  ASSERT_TRUE(program->run);
  EXPECT_EQ(program->run->to_string(), "h");
  program->run.reset();
  shorten_run(*program, all.group(), all.plan, {{"default", {{"b", 2}, {"c", 8}, {"h", 1}}, 1, {}}});
  EXPECT_FALSE(program->run) << "runs of one element are no runs";
}

TEST(ScanProgram, TakesWhatIsElementwiseAroundOneScan) {
  const RowCase all = row_case("y = cumsum(x * 2.0, axis=0) + 1.0", {{"x", "f32[rows, cols]"}});
  const auto program = scan_program(all.plan, all.group());
  ASSERT_TRUE(program);
  EXPECT_FALSE(program->fast_columns);
  const RowCase two = row_case("y = cumsum(x, axis=0) + cumsum(x, axis=1)", {{"x", "f32[rows, cols]"}});
  EXPECT_FALSE(scan_program(two.plan, two.group()));
}

}  // namespace
}  // namespace kerf::synth
