#include "export/check_program.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "export/parts.hpp"

namespace kerf::exporting {
namespace {

/// Largest error of a float output, relative to its largest value, that an honest kernel of this class stays below;
/// what rounding to the output's own type loses, the program adds.
double limit_of(Precision precision) {
  switch (precision) {
    case Precision::f64: return 1e-11;
    case Precision::f32: return 1e-4;
    case Precision::tf32: return 5e-3;
    case Precision::f16: return 2e-2;
    case Precision::bf16: return 6e-2;
  }
  return 0;
}

std::string distribution(const Task& task, std::size_t input) {
  const auto& given =
      input < task.distributions.size() ? task.distributions[input] : std::optional<InputDistribution>();
  if (!given) return "kerf_normal, 0, 1";
  const std::string high = given->b_is_dim ? "(double)(" + given->b_dim.to_c() + ")" : fmt::format("{:.17g}", given->b);
  using Kind = InputDistribution::Kind;
  const char* kind = given->kind == Kind::normal     ? "kerf_normal"
                     : given->kind == Kind::uniform  ? "kerf_uniform"
                     : given->kind == Kind::integers ? "kerf_integers"
                                                     : "kerf_constant";
  if (given->root == Dim(1)) return fmt::format("{}, {:.17g}, {}", kind, given->a, high);
  const std::string root = "std::sqrt((double)(" + given->root.to_c() + "))";
  return fmt::format("{}, {:.17g} / {}, {} / {}", kind, given->a, root, high, root);
}

std::string tensor_table(const Task& task) {
  std::string text;
  const auto add = [&](const ir::TensorType& tensor, const char* role, const std::string& values) {
    text += fmt::format("      {{\"{}\", kerf_{}, {}, (size_t)({}), {}, {{}}, {{}}}},\n", tensor.name,
                        dtype_name(tensor.dtype), role, element_count(tensor.shape).to_c(), values);
  };
  for (std::size_t i = 0; i < task.inputs.size(); ++i) add(task.inputs[i], "false", distribution(task, i));
  for (const auto& output : task.outputs) add(output, "true", "kerf_constant, 0, 0");
  return text;
}

std::string shape_calls(const Winner& winner) {
  std::string text;
  for (const auto& instance : instances_of(winner)) {
    text += fmt::format("  kerf_right &= kerf_check({});\n",
                        listed(fmt::format("\"{}\"", instance.name), shape_value(winner, instance)));
  }
  return text;
}

/// "(const float*)kerf_t[0].bytes.data(), ...".
std::string host_pointers(const Task& task) {
  std::vector<std::string> parts;
  for (const auto& input : task.inputs)
    parts.push_back(fmt::format("(const {}*)kerf_t[{}].bytes.data()", c_type(input.dtype), parts.size()));
  for (const auto& output : task.outputs)
    parts.push_back(fmt::format("({}*)kerf_t[{}].bytes.data()", c_type(output.dtype), parts.size()));
  return join(parts, ", ");
}

std::string device_pointers(const Task& task, bool typed) {
  std::vector<std::string> parts;
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors)
      parts.push_back(typed ? fmt::format("({}*)kerf_device[{}]", c_type(tensor.dtype), parts.size())
                            : fmt::format("kerf_device[{}]", parts.size()));
  return join(parts, ", ");
}

/// The task's own C++ reference, compiled for each certified shape set.
std::vector<File> own_references(const Winner& winner) {
  const Task& task = winner.task;
  const std::string name = function_name(winner);
  const Repeatable own = make_repeatable(task.cpp->source);
  std::vector<File> files;
  std::string declare, choice, includes;
  for (const auto& include : own.includes) includes += fmt::format("#include {}\n", include);
  for (const auto& instance : instances_of(winner)) {
    std::vector<std::string> arguments;
    for (const auto& input : task.inputs)
      arguments.push_back(fmt::format("(const {}*)kerf_buffers[{}]",
                                      is_float(input.dtype) ? "double" : c_type(input.dtype), arguments.size()));
    for (const auto& output : task.outputs)
      arguments.push_back(fmt::format("({}*)kerf_buffers[{}]", is_float(output.dtype) ? "double" : c_type(output.dtype),
                                      arguments.size()));
    files.push_back({fmt::format("reference_{}_{}.cpp", name, instance.id),
                     filled("cpp_reference.cpp.in", {{"NAME", name},
                                                     {"ID", instance.id},
                                                     {"CONSTANTS", constant_definitions(instance.symbols)},
                                                     {"SOURCE", own.code},
                                                     {"INCLUDES", includes},
                                                     {"ARGUMENTS", join(arguments, ", ")}})});
    declare += fmt::format("void {}_reference_{}(void* const* kerf_buffers);\n", name, instance.id);
    choice +=
        fmt::format("  if ({}) return {}_reference_{}(kerf_buffers), true;\n", same_shape(instance), name, instance.id);
  }
  files.push_back(
      {fmt::format("reference_{}.cpp", name),
       fmt::format("// The task's own reference, in double precision, for the shapes it is compiled for.\n{0}\n"
                   "bool {1}_reference({2});\nbool {1}_reference({2}) {{\n{3}  return false;\n}}\n",
                   declare, name, listed(symbol_parameters(task), "void* const* kerf_buffers"), choice)});
  return files;
}

/// The reference as plain loops on the host: from the task's graph, or its own C++.
Result<std::vector<File>> host_references(const Winner& winner) {
  const Task& task = winner.task;
  if (!task.graph) return own_references(winner);
  const std::string name = function_name(winner);
  KERF_TRY(const auto naive, runtime_naive(task, codegen::dialects::cpp, DType::f64, true, name + "_double"));
  std::string arguments = symbol_arguments(task);
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < task.inputs.size() + task.outputs.size(); ++i)
    arguments = listed(arguments, fmt::format("kerf_buffer{{kerf_buffers[{}]}}", i));
  for (std::size_t i = 0; i < naive.plan.scratch.size(); ++i)
    arguments = listed(arguments, fmt::format("kerf_buffer{{kerf_scratch[{}].data()}}", i));
  for (const auto& tensor : naive.plan.scratch)
    sizes.push_back(fmt::format("std::vector<char>({})", bytes_expression(tensor)));
  return std::vector<File>{
      {fmt::format("reference_{}.cpp", name),
       filled("reference.cpp.in", {{"NAME", name},
                                   {"INCLUDES", naive.includes},
                                   {"CODE", without_warnings(naive.code)},
                                   {"PARAMETERS", listed(symbol_parameters(task), "void* const* kerf_buffers")},
                                   {"SCRATCH", join(sizes, ", ")},
                                   {"ARGUMENTS", arguments}})}};
}

std::string main_text(const Winner& winner, const CheckProgram& program) {
  const Task& task = winner.task;
  const std::string name = function_name(winner);
  const auto first = [](const std::string& text) { return text.empty() ? "" : text + ", "; };
  std::vector<std::string> names, given;
  for (const auto& symbol : symbol_names(task)) {
    names.push_back(fmt::format("\"{}\"", symbol));
    given.push_back(fmt::format("kerf_given[\"{}\"]", symbol));
  }
  templates::Record values = common_values(winner);
  values["SYMBOLS_FIRST"] = first(symbol_parameters(task));
  values["MEMBERS_FIRST"] = first(shape_text(winner).members);
  values["HOST_POINTERS"] = host_pointers(task);
  values["DEVICE_POINTERS"] = device_pointers(task, program.typed_device_pointers);
  values["HEADER"] = name + program.header_extension;
  values["REAL_INPUTS"] = task.graph ? "false" : "true";
  values["TENSORS"] = tensor_table(task);
  values["LIMIT"] = fmt::format("{:g}", limit_of(task.precision));
  values["CALLS"] = shape_calls(winner);
  values["SYMBOL_NAMES"] = join(names, ", ");
  values["GIVEN"] = given.empty() ? "" : fmt::format(", {}_shape{{{}}}", name, join(given, ", "));
  const std::string where = program.references.empty() ? "host" : program.language;
  values["REFERENCE"] = filled(fmt::format("check_reference_{}.in", where), values);
  values["RUN"] = filled(fmt::format("check_run_{}.in", program.language), values);
  return filled("check.cpp.in", values);
}

}  // namespace

Result<std::vector<File>> check_files(const Winner& winner, const std::vector<File>& library,
                                      const CheckProgram& program) {
  const std::string name = function_name(winner);
  std::vector<File> files = program.references;
  if (files.empty()) {
    KERF_TRY(files, host_references(winner));
  }
  std::string sources, references;
  for (const auto& file : library)
    if (file.path.ends_with(".cpp") || file.path.ends_with(".c") || file.path.ends_with(".cu"))
      sources += " " + file.path;
  for (const auto& file : files) references += " " + file.path;
  const std::string check = "check_" + name + program.extension;
  files.push_back({check, main_text(winner, program)});
  templates::Record values = program.cmake_values;
  values["NAME"] = name;
  values["SOURCES"] = sources;
  values["CHECK"] = check + references;
  files.push_back({"CMakeLists.txt", filled(fmt::format("CMakeLists_{}.txt.in", program.language), values)});
  return files;
}

}  // namespace kerf::exporting
