// CUDA: one translation unit per certified shape set with its launcher, a dispatcher, plain kernels for other shapes.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "export/gpu_parts.hpp"
#include "report/fill_in.hpp"

namespace kerf::exporting {
namespace {

using report::fill_in;

/// Launch statements; `first` are arguments before the buffers (the symbols of a plain kernel).
std::string launches(const Winner& winner, const LaunchPlan& plan, const std::string& first) {
  const std::size_t own = winner.task.inputs.size() + winner.task.outputs.size();
  std::string text;
  for (const Launch& launch : plan.launches) {
    std::vector<std::string> arguments;
    if (!first.empty()) arguments.push_back(first);
    for (const std::size_t index : argument_indices(winner, plan, launch))
      arguments.push_back(index < own ? fmt::format("kerf_buffer{{kerf_buffers[{}]}}", index)
                                      : fmt::format("kerf_buffer{{kerf_scratch[{}]}}", index - own));
    const std::string shared = launch.shared_bytes.to_c();
    if (!(launch.shared_bytes.is_constant() && launch.shared_bytes.constant() == 0))
      text += fmt::format(
          "  if (kerf_status == cudaSuccess && ({0}) > 48 * 1024)\n"
          "    kerf_status = cudaFuncSetAttribute({1}, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)({0}));\n",
          shared, launch.kernel);
    text += fmt::format(
        "  if (kerf_status == cudaSuccess) {{\n    {}<<<kerf_three({}), kerf_three({}), (size_t)({}), "
        "kerf_stream>>>({});\n"
        "    kerf_status = cudaGetLastError();\n  }}\n",
        launch.kernel, three(launch.grid), three(launch.block), shared, join(arguments, ", "));
  }
  return text;
}

std::string instance_text(const Winner& winner, const Instance& instance, const std::string& source) {
  const std::string name = function_name(winner.task);
  std::string renames;
  for (const auto& kernel : kernel_names(winner.candidate.plan))
    renames += fmt::format("#define {0} {1}_{2}_{0}\n", kernel, name, instance.id);
  return fill_in(template_text("cuda_instance.cu.in"), {{"NAME", name},
                                                        {"ID", instance.id},
                                                        {"CONSTANTS", constant_definitions(instance.constants())},
                                                        {"RENAMES", renames},
                                                        {"SOURCE", source},
                                                        {"HELPERS", std::string(template_text("cuda_helpers.cu.in"))},
                                                        {"BODY", cuda_run_body(winner, winner.candidate.plan, "")}});
}

Result<std::string> dispatcher_text(const Winner& winner) {
  const Task& task = winner.task;
  const std::string name = function_name(task), symbols = symbol_parameters(task);
  std::string fallback, undo, call = "  return cudaErrorInvalidValue;\n";
  if (task.graph) {
    KERF_TRY(const auto naive,
             runtime_naive(task, codegen::dialects::cuda_cpp,
                           task.precision == Precision::f64 ? DType::f64 : DType::f32, false, name + "_fallback"));
    fallback = naive.includes + naive.code;
    for (const auto& macro : make_repeatable(naive.code).macros) undo += fmt::format("#undef {}\n", macro);
    call = cuda_run_body(winner, naive.plan, symbol_arguments(task));
  }
  std::string runs, choice, paths, buffers;
  for (const auto& instance : instances_of(winner)) {
    runs += fmt::format("extern \"C\" cudaError_t {}_{}_run(void* const* kerf_buffers, cudaStream_t kerf_stream);\n",
                        name, instance.id);
    choice += fmt::format("  if ({}) return {}_{}_run(kerf_buffers, kerf_stream);\n", same_shape(instance), name,
                          instance.id);
    paths += fmt::format("  if ({}) return \"{}\";\n", same_shape(instance), instance.name);
  }
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors) buffers += fmt::format("{}(void*){}", buffers.empty() ? "" : ", ", tensor.name);
  return fill_in(template_text("cuda_dispatch.cu.in"),
                 {{"NAME", name},
                  {"HELPERS", std::string(template_text("cuda_helpers.cu.in"))},
                  {"RUNS", runs},
                  {"FALLBACK", fallback},
                  {"UNDO", undo},
                  {"FALLBACK_CALL", call},
                  {"FALLBACK_PATH", task.graph ? "\"fallback\"" : "0"},
                  {"SYMBOLS", symbols.empty() ? "void" : symbols},
                  {"PARAMETERS", symbols + (symbols.empty() ? "" : ", ") + buffer_parameters(task)},
                  {"VALID", valid_shape(task)},
                  {"BUFFERS", buffers},
                  {"DISPATCH", choice},
                  {"PATHS", paths}});
}

std::string header_text(const Winner& winner, const std::string& implementation) {
  const Task& task = winner.task;
  const std::string name = function_name(task), symbols = symbol_parameters(task);
  std::string sets;
  for (const auto& instance : instances_of(winner)) {
    std::vector<std::string> parts;
    for (const auto& [symbol, value] : instance.symbols) parts.push_back(fmt::format("{} = {}", symbol, value));
    sets += fmt::format("     {}: {}\n", instance.name, join(parts, ", "));
  }
  return fill_in(template_text("cuda_header.h.in"),
                 {{"BANNER", banner(winner, "   ")},
                  {"NAME", name},
                  {"UPPER", upper(name)},
                  {"BUFFERS", buffer_table(task, "  ")},
                  {"SETS", sets},
                  {"OTHERS", task.graph ? "Other shapes run plain kernels: right, but slow."
                                        : "Other shapes are refused (cudaErrorInvalidValue)."},
                  {"SYMBOLS", symbols.empty() ? "void" : symbols},
                  {"PARAMETERS", symbols + (symbols.empty() ? "" : ", ") + buffer_parameters(task)},
                  {"IMPLEMENTATION", implementation}});
}

/// One set in a namespace of its own, so that inline functions and templates of two sets are never taken for the same.
std::string instance_block(const Winner& winner, const Instance& instance, const Repeatable& kernel) {
  const std::string name = fmt::format("{}_{}", function_name(winner.task), instance.id);
  std::string text = fmt::format("\nnamespace {} {{\n{}", name, instance_text(winner, instance, kernel.code));
  for (const auto& macro : kernel.macros) text += fmt::format("#undef {}\n", macro);
  for (const auto& launched : kernel_names(winner.candidate.plan)) text += fmt::format("#undef {}\n", launched);
  return text + fmt::format("}}  // namespace {}\n", name);
}

std::string prelude(const Repeatable& kernel) {
  std::string text = "#include <cuda_runtime.h>\n";
  for (const auto& include : kernel.includes) text += fmt::format("#include {}\n", include);
  return text;
}

Result<std::string> implementation_text(const Winner& winner) {
  const Repeatable kernel = make_repeatable(winner.candidate.source);
  std::string text = prelude(kernel);
  for (const auto& instance : instances_of(winner)) text += instance_block(winner, instance, kernel);
  KERF_TRY(const std::string dispatcher, dispatcher_text(winner));
  return fmt::format("\n#ifdef {0}_IMPLEMENTATION\n{1}\n{2}#endif  // {0}_IMPLEMENTATION\n",
                     upper(function_name(winner.task)), text, dispatcher);
}

}  // namespace

std::string cuda_run_body(const Winner& winner, const LaunchPlan& plan, const std::string& first) {
  std::vector<std::string> sizes;
  for (const auto& tensor : plan.scratch) sizes.push_back(bytes_expression(tensor));
  sizes.emplace_back("0");
  return fill_in(template_text("cuda_run.cu.in"),
                 {{"SCRATCH", join(sizes, ", ")}, {"LAUNCHES", launches(winner, plan, first)}});
}

Result<std::vector<File>> cuda_files(const Winner& winner, bool one_header) {
  const std::string name = function_name(winner.task);
  if (one_header) {
    KERF_TRY(const std::string implementation, implementation_text(winner));
    return std::vector<File>{{name + ".cuh", header_text(winner, implementation)}};
  }
  std::vector<File> files{{name + ".cuh", header_text(winner, "")}};
  const Repeatable kernel = make_repeatable(winner.candidate.source);
  for (const auto& instance : instances_of(winner))
    files.push_back({fmt::format("{}_{}.cu", name, instance.id),
                     fmt::format("// {} for shape set '{}'.\n{}{}", name, instance.name, prelude(kernel),
                                 instance_block(winner, instance, kernel))});
  KERF_TRY(const std::string dispatcher, dispatcher_text(winner));
  files.push_back(
      {name + ".cu", fmt::format("// Chooses the kernels that were compiled for a shape.\n#include \"{}.cuh\"\n\n{}",
                                 name, dispatcher)});
  return files;
}

}  // namespace kerf::exporting
