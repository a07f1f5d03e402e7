#pragma once
// Made-up experiences for tests.

#include <string>
#include <vector>

#include "ir/expression/expression.hpp"
#include "memory/experience.hpp"

namespace kerf::memory {

/// A task y = `expression` of x f32[rows, cols], and w f32[cols].
inline Task made_up_task(const std::string& name, const std::string& expression, std::int64_t rows = 4096,
                         std::int64_t cols = 4096) {
  Task task;
  task.name = name;
  task.id = "id of " + name;
  task.inputs = {{"x", DType::f32, {Dim::symbol("rows"), Dim::symbol("cols")}},
                 {"w", DType::f32, {Dim::symbol("cols")}}};
  task.shapes = {{"default", {{"rows", rows}, {"cols", cols}}, 1, {}}};
  task.graph = ir::parse_expression("y = " + expression, task.inputs, {"y"}, {task.shapes[0].symbols}).value();
  return task;
}

inline Experience made_up_kernel(const Task& task, const std::string& variant, std::int64_t lanes, double share,
                                 const std::string& device = "a processor") {
  Experience one;
  one.kind = kKernelKind;
  one.task = task.name;
  one.task_id = task.id;
  one.signature = signature_of(task, "cpu", {device, "x86-64", 2, 1e6});
  one.recipe.graph = "graph";
  one.recipe.genome = "{}";
  one.recipe.genes.push_back({{"map.exp", "reduce.sum"}, "row", variant, {{"LANES", lanes}}});
  one.outcome = "measured";
  one.speedup = 10 * share;
  one.share = share;
  one.time_us = 100 / share;
  one.run = "a run";
  one.step = 3;
  one.mind = "builtin";
  one.values = first_values(one);
  one.id = experience_id(one);
  return one;
}

}  // namespace kerf::memory
