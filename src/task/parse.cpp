#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/file.hpp"
#include "base/text.hpp"
#include "ir/expression/expression.hpp"
#include "model/names.hpp"
#include "task/reader.hpp"
#include "task/task.hpp"

namespace kerf {
namespace task {
namespace {

const std::vector<std::string> kRootKeys = {"name",          "description", "precision", "special_values",
                                            "require",       "inputs",      "outputs",   "shapes",
                                            "distributions", "reference",   "baselines"};

bool is_task_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  });
}

Result<std::string> read_name(const Source& source, const Table& root) {
  const Value* value = find(root, "name");
  std::string name = std::filesystem::path(source.file).stem().string();
  if (value != nullptr) {
    KERF_TRY(name, as_text(source, *value, "'name'"));
  }
  if (!is_task_name(name))
    return source.error(
        value != nullptr ? value->place : Place{},
        fmt::format("'{}' cannot name a task: use 1 to 64 letters, digits, '_' and '-'", name.substr(0, 64)));
  return name;
}

Result<Precision> read_precision(const Source& source, const Value& value) {
  KERF_TRY(const std::string name, as_text(source, value, "'precision'"));
  if (const auto precision = precision_from_name(name)) return *precision;
  static const std::vector<std::string> kNames = {"f64", "f32", "tf32", "f16", "bf16"};
  return source.error(value.place, fmt::format("unknown precision '{}'{}; choose one of: {}", name,
                                               did_you_mean(name, kNames), join(kNames, ", ")));
}

Status read_scalars(const Source& source, const Table& root, Task& task) {
  KERF_TRY(task.name, read_name(source, root));
  if (const Value* value = find(root, "description")) {
    KERF_TRY(task.description, as_text(source, *value, "'description'"));
  }
  if (const Value* value = find(root, "precision")) {
    KERF_TRY(task.precision, read_precision(source, *value));
  }
  if (const Value* value = find(root, "special_values")) {
    KERF_TRY(task.special_values, as_bool(source, *value, "'special_values'"));
  }
  return {};
}

std::vector<std::string> symbols_in(const std::vector<ir::TensorType>& tensors) {
  std::vector<std::string> symbols;
  for (const auto& tensor : tensors)
    for (const auto& extent : tensor.shape) extent.collect_symbols(symbols);
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols;
}

/// Buffers and symbols become names in the same scope of the kernel's code, so all of them are different.
Status check_clashes(const Source& source, const Task& task, const Table& root) {
  std::set<std::string> seen;
  for (const auto& symbol : symbols_of(task)) seen.insert(symbol);
  const auto claim = [&](const std::string& name, const char* what, Place place) -> Status {
    if (seen.insert(name).second) return {};
    return source.error(
        place,
        fmt::format("{} '{}' has the name of a shape symbol or of another tensor; rename one of them", what, name));
  };
  for (const auto& input : task.inputs) {
    KERF_TRY_VOID(claim(input.name, "input", entry_place(root, "inputs", input.name)));
  }
  for (const auto& output : task.outputs) {
    KERF_TRY_VOID(claim(output.name, "output",
                        entry_place(root, find(root, "outputs") != nullptr ? "outputs" : "reference", output.name)));
  }
  return {};
}

}  // namespace

Status check_task_name(const Source& source, Place place, std::string_view what, std::string_view name) {
  if (auto status = check_name(what, name); !status) return source.error(place, status.error().message);
  for (const auto& function : ir::expression_functions())
    if (function.name == name)
      return source.error(place, fmt::format("{} '{}' has the name of the function {}; choose another name", what, name,
                                             function.signature));
  return {};
}

Result<std::vector<ir::TensorType>> read_tensors(const Source& source, const Value& value, std::string_view what) {
  KERF_TRY(const Table* table, as_table(source, value, fmt::format("[{}s]", what)));
  if (table->empty()) return source.error(value.place, fmt::format("[{}s] is empty", what));
  if (table->size() > kMaxTensors) return source.error(value.place, fmt::format("more than {} {}s", kMaxTensors, what));
  std::vector<ir::TensorType> tensors;
  for (const auto& entry : *table) {
    KERF_TRY_VOID(check_task_name(source, entry.place, what, entry.key));
    KERF_TRY(const std::string text, as_text(source, entry.value, fmt::format("{} '{}'", what, entry.key)));
    auto type = ir::parse_tensor_type(entry.key, text);
    if (!type)
      return source.error(entry.value.place, fmt::format("{} '{}': {}", what, entry.key, type.error().message));
    tensors.push_back(*std::move(type));
  }
  return tensors;
}

Result<std::string> read_named_file(const Source& source, Place place, const std::filesystem::path& folder,
                                    const std::string& path) {
  constexpr std::uintmax_t kMaxBytes = 4 << 20;
  if (path.empty() || std::filesystem::path(path).is_absolute() || path.find('\0') != std::string::npos)
    return source.error(place, fmt::format("'{}' must be a path relative to the task's folder", path));
  std::error_code error;
  const auto full = folder / path;
  if (!std::filesystem::is_regular_file(full, error))
    return source.error(place, fmt::format("there is no file '{}' (looked for {})", path, full.string()));
  const auto size = std::filesystem::file_size(full, error);
  if (error || size > kMaxBytes)
    return source.error(place, fmt::format("'{}' is larger than {} MiB", path, kMaxBytes >> 20));
  auto text = read_file(full);
  if (!text) return source.error(place, text.error().message);
  return text;
}

}  // namespace task

std::vector<std::string> symbols_of(const Task& task) {
  std::vector<std::string> symbols;
  if (!task.shapes.empty())
    for (const auto& [name, value] : task.shapes.front().symbols) symbols.push_back(name);
  return symbols;
}

Result<Task> parse_task(std::string_view text, const std::filesystem::path& folder, const std::string& file) {
  const task::Source source{file, text};
  KERF_TRY(const task::Table root, task::parse_toml(source));
  KERF_TRY_VOID(task::check_keys(source, root, "", task::kRootKeys));
  for (const auto* needed : {"inputs", "reference"})
    if (task::find(root, needed) == nullptr) return source.error({}, fmt::format("the task has no [{}] table", needed));

  Task task;
  KERF_TRY_VOID(task::read_scalars(source, root, task));
  KERF_TRY(task.inputs, task::read_tensors(source, *task::find(root, "inputs"), "input"));
  auto tensors = task.inputs;
  if (const task::Value* outputs = task::find(root, "outputs")) {
    KERF_TRY(auto typed, task::read_tensors(source, *outputs, "output"));
    tensors.insert(tensors.end(), typed.begin(), typed.end());
  }
  KERF_TRY(task.shapes, task::read_shapes(source, task::find(root, "shapes"), task::symbols_in(tensors)));
  KERF_TRY_VOID(task::read_distributions(source, root, task));
  KERF_TRY_VOID(task::check_clashes(source, task, root));
  KERF_TRY_VOID(task::read_reference(source, root, folder, task));
  KERF_TRY_VOID(task::check_clashes(source, task, root));
  KERF_TRY_VOID(task::check_extents(source, task, task::find(root, "shapes"), task::find(root, "reference")->place));
  KERF_TRY_VOID(task::check_indices(source, task, root));
  KERF_TRY_VOID(task::read_baselines(source, task::find(root, "baselines"), folder, task));
  KERF_TRY_VOID(task::read_requirements(source, task::find(root, "require"), task));

  std::string expression;
  if (task.graph) {
    KERF_TRY(const task::Table* reference, task::as_table(source, *task::find(root, "reference"), "[reference]"));
    KERF_TRY(expression, task::as_text(source, *task::find(*reference, "expr"), "'expr'"));
  }
  task.id = task::task_id(task, expression);
  return task;
}

Result<Task> load_task(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return fail(Errc::invalid_input, fmt::format("{} is a folder; give the task's .toml file", path.string()));
  KERF_TRY(const std::string text, read_file(path));
  return parse_task(text, path.parent_path(), path.string());
}

}  // namespace kerf
