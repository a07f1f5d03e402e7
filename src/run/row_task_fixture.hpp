#pragma once
// A small task over rows, for tests of this room.

#include <string>

#include "ir/expression/expression.hpp"
#include "model/task.hpp"

namespace kerf {

inline Task row_task(const std::string& name, const std::string& expression) {
  Task task;
  task.name = name;
  task.id = "id of " + name;
  task.inputs = {*ir::parse_tensor_type("x", "f32[rows, cols]")};
  task.shapes = {{"default", {{"rows", 256}, {"cols", 512}}, 1, {}}};
  task.graph = ir::parse_expression("y = " + expression, task.inputs, {"y"}, {task.shapes[0].symbols}).value();
  task.outputs = {{"y", DType::f32, (*task.graph)[task.graph->outputs[0].node].shape}};
  task.distributions.resize(1);
  return task;
}

}  // namespace kerf
