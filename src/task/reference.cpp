#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "ir/expression/expression.hpp"
#include "model/candidate.hpp"
#include "task/reader.hpp"
#include "task/task.hpp"

namespace kerf::task {
namespace {

std::string_view line_of(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const auto newline = text.find('\n');
    if (newline == std::string_view::npos) return {};
    text.remove_prefix(newline + 1);
  }
  return text.substr(0, text.find('\n'));
}

/// Takes "line L, column C: " off the front of an expression error; false when it is not there.
bool take_position(std::string_view& message, int& line, int& column) {
  const auto number = [&](std::string_view prefix, int& into) {
    if (!message.starts_with(prefix)) return false;
    const char* begin = message.data() + prefix.size();
    const auto [end, error] = std::from_chars(begin, message.data() + message.size(), into);
    if (error != std::errc()) return false;
    message.remove_prefix(static_cast<std::size_t>(end - message.data()));
    return true;
  };
  const std::string_view whole = message;
  if (number("line ", line) && number(", column ", column) && message.starts_with(": ")) {
    message.remove_prefix(2);
    return true;
  }
  message = whole;
  return false;
}

/// Moves an error inside the expression to where it stands in the task file. (In a one-line string with escapes the
/// column is off by the escapes' length.)
tl::unexpected<Error> expression_error(const Source& source, Place text, const std::string& message) {
  std::string_view rest = message;
  int line = 0, column = 0;
  if (!take_position(rest, line, column)) return source.error(text, message);
  const auto opening = line_of(source.text, text.line)
                           .substr(std::min<std::size_t>(static_cast<std::size_t>(std::max(text.column - 1, 0)),
                                                         line_of(source.text, text.line).size()));
  const bool multi_line = opening.starts_with("\"\"\"") || opening.starts_with("'''");
  const bool first_line_follows = multi_line && trim(opening.substr(3)).empty();
  Place place{text.line + line - 1 + (first_line_follows ? 1 : 0), column};
  if (line == 1 && !first_line_follows) place.column += text.column - 1 + (multi_line ? 3 : 1);
  return source.error(place, rest);
}

Status read_expression(const Source& source, const Value& value, const std::vector<std::string>& outputs, Task& task) {
  KERF_TRY(const std::string text, as_text(source, value, "'expr'"));
  std::vector<Bindings> sets;
  for (const auto& set : task.shapes) sets.push_back(set.symbols);
  auto graph = ir::parse_expression(text, task.inputs, outputs, sets);
  if (!graph) return expression_error(source, value.place, graph.error().message);
  for (const auto& [name, node] : graph->outputs) {
    KERF_TRY_VOID(check_task_name(source, value.place, "output", name));
    task.outputs.push_back({name, (*graph)[node].dtype, (*graph)[node].shape});
  }
  task.graph = *std::move(graph);
  return {};
}

Status read_cpp(const Source& source, const Table& root, const Value& value, const std::filesystem::path& folder,
                const std::vector<std::string>& order, Task& task) {
  KERF_TRY(const std::string path, as_text(source, value, "'cpp'"));
  KERF_TRY(std::string code, read_named_file(source, value.place, folder, path));
  task.cpp = CppReference{path, std::move(code)};
  const Value* typed = find(root, "outputs");
  if (typed == nullptr)
    return source.error(value.place, "a C++ reference does not tell what it computes; add [outputs] y = \"f32[rows]\"");
  KERF_TRY(task.outputs, read_tensors(source, *typed, "output"));
  if (order.empty()) return {};
  std::vector<ir::TensorType> sorted;
  for (const auto& name : order) {
    const auto output =
        std::find_if(task.outputs.begin(), task.outputs.end(), [&](const auto& o) { return o.name == name; });
    if (output == task.outputs.end())
      return source.error(value.place,
                          fmt::format("[reference] lists the output '{}', which [outputs] does not have", name));
    sorted.push_back(*output);
  }
  if (sorted.size() != task.outputs.size())
    return source.error(value.place, "[reference] outputs and [outputs] do not name the same tensors");
  task.outputs = std::move(sorted);
  return {};
}

}  // namespace

Status read_reference(const Source& source, const Table& root, const std::filesystem::path& folder, Task& task) {
  const Value& value = *find(root, "reference");
  KERF_TRY(const Table* table, as_table(source, value, "[reference]"));
  KERF_TRY_VOID(check_keys(source, *table, "[reference]", {"expr", "cpp", "outputs"}));
  std::vector<std::string> outputs;
  if (const Value* list = find(*table, "outputs")) {
    KERF_TRY(outputs, as_text_list(source, *list, "'outputs'"));
    if (outputs.empty() || outputs.size() > kMaxTensors)
      return source.error(list->place, fmt::format("'outputs' must name 1 to {} outputs", kMaxTensors));
    auto sorted = outputs;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) return source.error(list->place, fmt::format("output '{}' is listed twice", *twice));
  }
  const Value* expr = find(*table, "expr");
  const Value* cpp = find(*table, "cpp");
  if ((expr == nullptr) == (cpp == nullptr))
    return source.error(value.place, "[reference] must have exactly one of expr = \"y = ...\" and cpp = \"ref.cpp\"");
  if (cpp != nullptr) return read_cpp(source, root, *cpp, folder, outputs, task);
  if (const Value* typed = find(root, "outputs"))
    return source.error(typed->place,
                        "[outputs] is only for C++ references; the types of an expression follow from its inputs");
  return read_expression(source, *expr, outputs, task);
}

Status read_baselines(const Source& source, const Value* value, const std::filesystem::path& folder, Task& task) {
  if (value == nullptr) return {};
  KERF_TRY(const Table* table, as_table(source, *value, "[baselines]"));
  if (table->size() > kMaxBaselines)
    return source.error(value->place, fmt::format("more than {} baselines", kMaxBaselines));
  for (const auto& [name, place, entry] : *table) {
    const std::string where = fmt::format("[baselines.{}]", name);
    if (!is_identifier(name)) return source.error(place, fmt::format("baseline '{}' is not a name", name));
    if (name == "naive") return source.error(place, "the baseline 'naive' is generated; choose another name");
    KERF_TRY(const Table* keys, as_table(source, entry, where));
    KERF_TRY_VOID(check_keys(source, *keys, where, {"target", "kernel"}));
    const Value* kernel = find(*keys, "kernel");
    if (kernel == nullptr) return source.error(place, fmt::format("{} has no kernel = \"path\"", where));
    BaselineSpec baseline;
    baseline.name = name;
    KERF_TRY(baseline.path, as_text(source, *kernel, "'kernel'"));
    KERF_TRY(baseline.source, read_named_file(source, kernel->place, folder, baseline.path));
    if (const Value* target = find(*keys, "target")) {
      KERF_TRY(baseline.target, as_text(source, *target, "'target'"));
    }
    KERF_TRY(const Candidate candidate, parse_candidate((folder / baseline.path).string(), baseline.source));
    KERF_TRY_VOID(check_against(task, candidate));
    if (baseline.target.empty()) baseline.target = candidate.target;
    if (baseline.target.empty()) return source.error(place, fmt::format("{} has no target", where));
    if (!candidate.target.empty() && candidate.target != baseline.target)
      return source.error(place, fmt::format("{} says target '{}', but {} says '{}'", where, baseline.target,
                                             baseline.path, candidate.target));
    task.baselines.push_back(std::move(baseline));
  }
  return {};
}

}  // namespace kerf::task
