// The program that builds with the vendor's compiler and compares the exported kernel with a double-precision
// reference.
#include <fmt/format.h>

#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "export/gpu_parts.hpp"
#include "report/fill_in.hpp"

namespace kerf::exporting {
namespace {

using report::fill_in;

/// Largest error of a float output, relative to its largest value, that an honest kernel of this class stays below.
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
  return fmt::format("{}, {:.17g}, {}", kind, given->a, high);
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
    text += fmt::format("  kerf_right &= kerf_check(\"{}\"", instance.name);
    for (const auto& [name, value] : instance.symbols) text += fmt::format(", {}LL", value);
    text += ");\n";
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

/// The reference: naive double code on the host, on the device for CUDA (host loops would take minutes there).
Result<std::vector<File>> reference_files(const Winner& winner) {
  const Task& task = winner.task;
  const std::string name = function_name(task), symbols = symbol_parameters(task);
  if (!task.graph) {
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
        arguments.push_back(fmt::format("({}*)kerf_buffers[{}]",
                                        is_float(output.dtype) ? "double" : c_type(output.dtype), arguments.size()));
      files.push_back(
          {fmt::format("reference_{}.cpp", instance.id),
           fill_in(template_text("cpp_reference.cpp.in"), {{"NAME", name},
                                                           {"ID", instance.id},
                                                           {"CONSTANTS", constant_definitions(instance.symbols)},
                                                           {"SOURCE", own.code},
                                                           {"INCLUDES", includes},
                                                           {"ARGUMENTS", join(arguments, ", ")}})});
      declare += fmt::format("void {}_reference_{}(void* const* kerf_buffers);\n", name, instance.id);
      choice += fmt::format("  if ({}) return {}_reference_{}(kerf_buffers), true;\n", same_shape(instance), name,
                            instance.id);
    }
    files.push_back(
        {"reference.cpp",
         fmt::format("// The task's own reference, in double precision, for the shapes it is compiled for.\n{}\n"
                     "bool {}_reference({}{}void* const* kerf_buffers) {{\n{}  return false;\n}}\n",
                     declare, name, symbols, symbols.empty() ? "" : ", ", choice)});
    return files;
  }
  const bool cuda = winner.target == "cuda";
  KERF_TRY(const auto naive, runtime_naive(task, cuda ? codegen::dialects::cuda_cpp : codegen::dialects::cpp,
                                           DType::f64, true, name + "_double"));
  std::vector<std::string> arguments, sizes;
  if (!symbols.empty()) arguments.push_back(symbol_arguments(task));
  for (std::size_t i = 0; i < task.inputs.size() + task.outputs.size(); ++i)
    arguments.push_back(fmt::format("kerf_buffer{{kerf_buffers[{}]}}", i));
  for (std::size_t i = 0; i < naive.plan.scratch.size(); ++i)
    arguments.push_back(fmt::format("kerf_buffer{{kerf_scratch[{}].data()}}", i));
  for (const auto& tensor : naive.plan.scratch)
    sizes.push_back(fmt::format("std::vector<char>({})", bytes_expression(tensor)));
  if (!cuda)
    return std::vector<File>{{"reference.cpp", fill_in(template_text("reference.cpp.in"),
                                                       {{"NAME", name},
                                                        {"INCLUDES", naive.includes},
                                                        {"CODE", naive.code},
                                                        {"PARAMETERS", symbols + (symbols.empty() ? "" : ", ")},
                                                        {"SCRATCH", join(sizes, ", ")},
                                                        {"ARGUMENTS", join(arguments, ", ")}})}};
  return std::vector<File>{
      {"reference.cu", fill_in(template_text("reference.cu.in"),
                               {{"NAME", name},
                                {"INCLUDES", naive.includes},
                                {"CODE", naive.code},
                                {"HELPERS", std::string(template_text("cuda_helpers.cu.in"))},
                                {"PARAMETERS", symbols + (symbols.empty() ? "" : ", ")},
                                {"BODY", cuda_run_body(winner, naive.plan, symbol_arguments(task))}})}};
}

std::string main_text(const Winner& winner) {
  const Task& task = winner.task;
  const std::string name = function_name(task), symbols = symbol_parameters(task), passed = symbol_arguments(task);
  std::map<std::string_view, std::string> values{{"NAME", name},
                                                 {"UPPER", upper(name)},
                                                 {"SYMBOL_PARAMETERS", symbols.empty() ? "" : ", " + symbols},
                                                 {"SYMBOLS_FIRST", symbols + (symbols.empty() ? "" : ", ")},
                                                 {"SYMBOLS", symbols.empty() ? "void" : symbols},
                                                 {"PASS_FIRST", passed + (passed.empty() ? "" : ", ")},
                                                 {"PASS", passed},
                                                 {"PASS_MORE", passed.empty() ? "" : ", " + passed},
                                                 {"HOST_POINTERS", host_pointers(task)},
                                                 {"DEVICE_POINTERS", device_pointers(task, winner.target == "cuda")},
                                                 {"HEADER", name + (winner.target == "cuda" ? ".cuh" : ".h")},
                                                 {"REAL_INPUTS", task.graph ? "false" : "true"},
                                                 {"TENSORS", tensor_table(task)},
                                                 {"LIMIT", fmt::format("{:g}", limit_of(task.precision))},
                                                 {"CALLS", shape_calls(winner)}};
  std::string given, call;
  for (const auto& symbol : symbol_names(task)) {
    given += fmt::format("{}\"{}\"", given.empty() ? "" : ", ", symbol);
    call += fmt::format(", kerf_given[\"{}\"]", symbol);
  }
  values["SYMBOL_NAMES"] = given;
  values["GIVEN_CALL"] = call;
  values["HOST_REFERENCE"] = fill_in(template_text("check_reference_host.in"), values);
  values["RUN"] = fill_in(template_text("check_run_" + winner.target + ".in"), values);
  return fill_in(template_text("check.cpp.in"), values);
}

}  // namespace

Result<std::vector<File>> check_files(const Winner& winner, const std::vector<File>& sources) {
  const std::string name = function_name(winner.task);
  KERF_TRY(std::vector<File> files, reference_files(winner));
  std::string library, references;
  for (const auto& file : sources)
    if (file.path.ends_with(".cpp") || file.path.ends_with(".c") || file.path.ends_with(".cu"))
      library += " " + file.path;
  for (const auto& file : files) references += " " + file.path;
  const bool cuda = winner.target == "cuda";
  const std::string check = cuda ? "check.cu" : "check.cpp";
  // Instructions of exactly one generation need its 'a' variant.
  const bool specific = winner.candidate.source.find("wgmma") != std::string::npos ||
                        winner.candidate.source.find("setmaxnreg") != std::string::npos;
  files.push_back({check, main_text(winner)});
  files.push_back({"CMakeLists.txt", fill_in(template_text("CMakeLists_" + winner.target + ".txt.in"),
                                             {{"NAME", name},
                                              {"SOURCES", library},
                                              {"CHECK", check + references},
                                              {"ARCHITECTURE", specific ? "90a" : "native"}})});
  return files;
}

}  // namespace kerf::exporting
