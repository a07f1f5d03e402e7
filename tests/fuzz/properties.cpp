#include "properties.hpp"

#include <fmt/format.h>

#include "ir/expression/expression.hpp"
#include "ir/interpret/interpreter.hpp"
#include "model/candidate.hpp"
#include "task/task.hpp"

namespace kerf::fuzz {
namespace {

constexpr std::size_t kMaxText = 16 << 10;  // longer inputs only repeat what shorter ones show

/// Messages are for people: not empty, and not whole files.
std::string check_error(const Error& error) {
  if (error.message.empty()) return "an error has no message";
  if (error.message.size() > 2 * kMaxText) return fmt::format("an error message has {} bytes", error.message.size());
  return "";
}

std::string check_graph(const ir::Graph& graph, const std::vector<Bindings>& sets) {
  if (graph.outputs.empty()) return "a graph has no output";
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    for (const auto arg : graph.nodes[id].args)
      if (arg < 0 || arg >= static_cast<ir::NodeId>(id)) return fmt::format("node {} uses node {}", id, arg);
  for (const auto& output : graph.outputs)
    if (output.node < 0 || output.node >= static_cast<ir::NodeId>(graph.nodes.size())) return "an output is no node";
  for (const auto& node : graph.nodes)
    for (const auto& set : sets)
      if (auto shape = evaluate(node.shape, set); !shape) {
        if (auto wrong = check_error(shape.error()); !wrong.empty()) return wrong;
      }
  if (ir::to_string(ir::simplify(graph)).empty()) return "a simplified graph is empty";
  return "";
}

/// True when the interpreter has little to do.
bool is_small(const ir::Graph& graph, const Bindings& symbols) {
  constexpr double kMaxElements = 20000;
  double total = 0;
  for (const auto& node : graph.nodes) {
    const auto shape = evaluate(node.shape, symbols);
    if (!shape) return false;
    double count = 1;
    for (const auto extent : *shape) {
      if (extent < 0) return false;
      count *= static_cast<double>(extent);
    }
    total += count;
    if (ir::is<ir::ContractAttr>(node) || ir::is<ir::ConvAttr>(node) || ir::is<ir::PoolAttr>(node))
      total += 100 * count;
  }
  return total <= kMaxElements;
}

std::string check_values(const ir::Graph& graph, const std::vector<ir::TensorType>& inputs, const Bindings& symbols) {
  std::vector<ir::HostTensor> values;
  for (const auto& input : inputs) {
    auto shape = evaluate(input.shape, symbols);
    if (!shape) return "a fixed input has no shape";
    values.push_back(ir::make_tensor(input.dtype, *std::move(shape)));
  }
  ir::InterpretOptions options;
  options.threads = 1;
  options.max_bytes = 64 << 20;
  const auto outputs = ir::interpret(graph, values, symbols, options);
  if (!outputs) return check_error(outputs.error());
  return outputs->size() == graph.outputs.size() ? "" : "the interpreter lost an output";
}

}  // namespace

std::string check_expression(std::string_view text) {
  static const std::vector<ir::TensorType> inputs = [] {
    std::vector<ir::TensorType> list;
    for (const auto& [name, type] : std::vector<std::pair<std::string, std::string>>{{"x", "f32[rows, cols]"},
                                                                                     {"w", "f32[cols]"},
                                                                                     {"b", "f16[rows, 1]"},
                                                                                     {"m", "f64[cols, rows]"},
                                                                                     {"image", "f32[2, 4, 6, cols]"},
                                                                                     {"filter", "f32[4, 4, 3, 3]"},
                                                                                     {"target", "i64[rows]"},
                                                                                     {"mask", "bool[rows, cols]"}})
      list.push_back(ir::parse_tensor_type(name, type).value());
    return list;
  }();
  static const std::vector<Bindings> sets = {{{"rows", 3}, {"cols", 5}}, {{"rows", 8}, {"cols", 4}}};
  const auto graph = ir::parse_expression(text.substr(0, kMaxText), inputs, {}, sets);
  if (!graph) return check_error(graph.error());
  if (auto wrong = check_graph(*graph, sets); !wrong.empty()) return wrong;
  return is_small(*graph, sets[0]) ? check_values(*graph, inputs, sets[0]) : "";
}

std::string check_task(std::string_view text) {
  const auto task = parse_task(text.substr(0, kMaxText), "corpus", "fuzz.toml");
  if (!task) return check_error(task.error());
  if (task->id.size() != 64) return "a task has no id";
  if (task->inputs.empty() || task->outputs.empty() || task->shapes.empty()) return "a task lacks a part";
  if (task->graph.has_value() == task->cpp.has_value()) return "a task has none or two references";
  if (task->distributions.size() != task->inputs.size()) return "a task's distributions do not match its inputs";
  for (const auto& set : task->shapes)
    for (const auto* tensors : {&task->inputs, &task->outputs})
      for (const auto& tensor : *tensors)
        if (!element_count(tensor.shape).evaluate(set.symbols)) return "a task's tensor has no size";
  return "";
}

std::string check_candidate(std::string_view text) {
  static const Task task = parse_task(R"([inputs]
x = "f32[rows, cols]"
w = "f32[cols]"
[shapes]
default = { rows = 64, cols = 40 }
[reference]
expr = "y = x * w"
)",
                                      "", "scale.toml")
                               .value();
  const auto candidate = parse_candidate("k.cu", std::string(text.substr(0, kMaxText)));
  if (!candidate) return check_error(candidate.error());
  if (candidate->id.size() != 64) return "a candidate has no id";
  if (candidate->requirements.size() != candidate->requirement_texts.size()) return "requirements lost their text";
  for (const auto& tunable : candidate->tunables)
    if (tunable.values.empty()) return "a tunable has no value";
  for (const auto& launch : candidate->plan.launches) {
    if (launch.grid.empty() || launch.grid.size() > 3 || launch.block.empty() || launch.block.size() > 3)
      return "a launch has no extents";
    for (const auto& extent : launch.grid)
      if (auto value = extent.evaluate({{"rows", 3}}); !value && value.error().message.empty())
        return "an error has no message";
  }
  if (auto status = check_against(task, *candidate); !status) return check_error(status.error());
  return "";
}

}  // namespace kerf::fuzz
