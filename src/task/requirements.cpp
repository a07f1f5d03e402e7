#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "task/reader.hpp"

namespace kerf::task {
namespace {

const std::vector<std::string> kRequirements = {"deterministic", "batch_invariant"};

bool uses(const Dim& extent, const std::string& symbol) {
  std::vector<std::string> symbols;
  extent.collect_symbols(symbols);
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

/// Whether the symbol appears as the first extent at most.
bool only_leads(const ir::TensorType& tensor, const std::string& symbol) {
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    if (uses(tensor.shape[i], symbol) && (i > 0 || tensor.shape[i].to_string() != symbol)) return false;
  return true;
}

bool leads(const ir::TensorType& tensor, const std::string& symbol) {
  return !tensor.shape.empty() && tensor.shape[0].to_string() == symbol;
}

/// The symbol that counts independent problems, if there can be one.
std::string batch_symbol(const Task& task) {
  if (task.outputs.empty() || task.outputs[0].shape.empty()) return "";
  const std::string symbol = task.outputs[0].shape[0].to_string();
  if (!is_identifier(symbol)) return "";
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors)
      if (!only_leads(tensor, symbol)) return "";
  const auto has_rows = [&](const ir::TensorType& tensor) { return leads(tensor, symbol); };
  const bool whole = std::all_of(task.outputs.begin(), task.outputs.end(), has_rows) &&
                     std::any_of(task.inputs.begin(), task.inputs.end(), has_rows);
  return whole ? symbol : "";
}

}  // namespace

Status read_requirements(const Source& source, const Value* value, Task& task) {
  task.batch = batch_symbol(task);
  if (value == nullptr) return {};
  KERF_TRY(const auto names, as_text_list(source, *value, "'require'"));
  for (const auto& name : names) {
    if (name == "deterministic")
      task.require_deterministic = true;
    else if (name == "batch_invariant")
      task.require_batch_invariant = true;
    else
      return source.error(value->place, fmt::format("unknown requirement '{}'{}; choose one of: {}", name,
                                                    did_you_mean(name, kRequirements), join(kRequirements, ", ")));
  }
  if (task.require_batch_invariant && task.batch.empty())
    return source.error(value->place,
                        "'batch_invariant' needs a shape symbol that is the first extent of every output and of at "
                        "least one input and appears nowhere else (\"rows\" of f32[rows, cols]); this task has none");
  return {};
}

}  // namespace kerf::task
