#include "propose/synth/group_view.hpp"

#include <gtest/gtest.h>

#include "ir/expression/expression.hpp"
#include "propose/synth/partition.hpp"

namespace kerf::synth {
namespace {

/// Groups of an expression over x[n, n], a[n, n], b[n, n] and c[n, m], every loop stored.
Partition groups_of(const std::string& expression) {
  std::vector<ir::TensorType> inputs;
  for (const char* name : {"x", "a", "b"}) inputs.push_back(*ir::parse_tensor_type(name, "f32[n, n]"));
  inputs.push_back(*ir::parse_tensor_type("c", "f32[n, m]"));
  const auto graph = ir::parse_expression(expression, inputs, {"y"}, {{{"n", 8}, {"m", 5}}});
  KERF_CHECK(graph.has_value(), graph ? "" : graph.error().message.c_str());
  const ir::Graph simple = ir::simplify(*graph);
  auto partition = make_partition(simple, least_fused(simple), {});
  KERF_CHECK(partition.has_value(), "no partition");
  return *std::move(partition);
}

std::vector<StructureKey> keys_of(const Partition& partition) {
  Structures structures;
  const auto words = structures.words_of(partition.plan.graph);
  std::vector<StructureKey> keys;
  for (const Group& group : partition.groups) keys.push_back(structure_of(partition.plan, group, words));
  return keys;
}

TEST(GroupView, HasTheGroupsNodesAndBuffersAndNoOthers) {
  const Partition partition = groups_of("y = matmul(matmul(x, a), b) + 1");
  ASSERT_GE(partition.groups.size(), 2u);
  const GroupView view = cut_out(partition.plan, partition.groups.front());
  EXPECT_EQ(view.plan.graph->nodes.size(), 3u);
  EXPECT_EQ(view.plan.buffers.size(), 3u);
  EXPECT_EQ(view.plan.buffers[0].name, "x");
  EXPECT_EQ(view.plan.buffers[1].name, "a");
  EXPECT_EQ(view.buffers.back(), partition.groups.front().buffer);
  EXPECT_EQ(view.plan.location, (std::vector<int>{0, 1, -1})) << "the root is computed, not loaded";
  EXPECT_TRUE(ir::is<ir::ContractAttr>(view.plan.graph[view.group.root]));
}

TEST(Structure, IsTheSameForTheSameProductOfOtherOperands) {
  const auto keys = keys_of(groups_of("y = matmul(matmul(matmul(x, a), b), a)"));
  ASSERT_EQ(keys.size(), 3u);
  EXPECT_EQ(keys[1], keys[2]);
}

TEST(Structure, DiffersWithExtentsOperationsAndWiring) {
  const auto extents = keys_of(groups_of("y = matmul(matmul(x, a), c)"));
  EXPECT_NE(extents.front(), extents.back());
  const auto operations = keys_of(groups_of("y = max(sum(matmul(x, a), 1), 0)"));
  EXPECT_NE(operations[1], operations[2]);
  const auto wiring = keys_of(groups_of("y = matmul(matmul(x, a), transpose(b, [1, 0]))"));
  EXPECT_NE(wiring.front(), wiring.back());
}

}  // namespace
}  // namespace kerf::synth
