// CUDA: one translation unit per certified shape set with its launcher, a dispatcher, plain kernels for other shapes.
#include <fmt/format.h>

#include <algorithm>

#include "base/fill_in.hpp"
#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "export/check_program.hpp"
#include "export/domain.hpp"
#include "export/gpu_parts.hpp"

namespace kerf::exporting {
namespace {

constexpr const char* kRunParameters = "void* const* kerf_buffers, cudaStream_t kerf_stream";

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

/// Statements of a function that allocates scratch and launches a plan; `first` are arguments before the buffers.
std::string run_body(const Winner& winner, const LaunchPlan& plan, const std::string& first) {
  std::vector<std::string> sizes;
  for (const auto& tensor : plan.scratch) sizes.push_back(bytes_expression(tensor));
  sizes.emplace_back("0");
  return fill_in(template_text("cuda_run.cu.in"),
                 {{"SCRATCH", join(sizes, ", ")}, {"LAUNCHES", launches(winner, plan, first)}});
}

std::string instance_text(const Winner& winner, const Instance& instance, const std::string& source) {
  const std::string name = function_name(winner);
  std::string renames;
  for (const auto& kernel : kernel_names(winner.candidate.plan))
    renames += fmt::format("#define {0} {1}_set_{2}_{0}\n", kernel, name, instance.id);
  return fill_in(template_text("cuda_instance.cu.in"), {{"NAME", name},
                                                        {"ID", instance.id},
                                                        {"CONSTANTS", constant_definitions(instance.constants())},
                                                        {"RENAMES", renames},
                                                        {"SOURCE", without_warnings(source)},
                                                        {"HELPERS", std::string(template_text("cuda_helpers.cu.in"))},
                                                        {"BODY", run_body(winner, winner.candidate.plan, "")}});
}

/// The plain kernels for other shapes: a namespace with kerf_run(symbols..., kerf_buffers, kerf_stream).
Result<std::string> fallback_text(const Winner& winner) {
  const Task& task = winner.task;
  const std::string name = function_name(winner);
  KERF_TRY(const auto naive,
           runtime_naive(task, codegen::dialects::cuda_cpp, task.precision == Precision::f64 ? DType::f64 : DType::f32,
                         false, name + "_fallback"));
  std::string text = naive.includes + fill_in(template_text("cuda_fallback.cu.in"),
                                              {{"NAME", name},
                                               {"CODE", without_warnings(naive.code)},
                                               {"HELPERS", std::string(template_text("cuda_helpers.cu.in"))},
                                               {"PARAMETERS", listed(symbol_parameters(task), kRunParameters)},
                                               {"BODY", run_body(winner, naive.plan, symbol_arguments(task))}});
  for (const auto& macro : make_repeatable(naive.code).macros) text += fmt::format("#undef {}\n", macro);
  return text;
}

Result<std::string> dispatcher_text(const Winner& winner) {
  const Task& task = winner.task;
  const std::string name = function_name(winner);
  const ShapeText shape = shape_text(winner);
  std::string fallback, call = "cudaErrorInvalidValue";
  if (task.graph) {
    KERF_TRY(fallback, fallback_text(winner));
    call = fmt::format("{}_plain::kerf_run({})", name, listed(symbol_arguments(task), "kerf_buffers, kerf_stream"));
  }
  std::string runs, choice, paths, buffers;
  for (const auto& instance : instances_of(winner)) {
    runs += fmt::format("extern \"C\" cudaError_t {}_set_{}_run({});\n", name, instance.id, kRunParameters);
    choice += fmt::format("  if ({}) return {}_set_{}_run(kerf_buffers, kerf_stream);\n", same_shape(instance), name,
                          instance.id);
    paths += fmt::format("  if ({}) return \"{}\";\n", same_shape(instance), instance.name);
  }
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors) buffers = listed(buffers, "(void*)" + tensor.name);
  return fill_in(template_text("cuda_dispatch.cu.in"),
                 {{"NAME", name},
                  {"RUNS", runs},
                  {"FALLBACK", fallback},
                  {"FALLBACK_CALL", call},
                  {"FALLBACK_PATH", task.graph ? "\"fallback\"" : "0"},
                  {"SHAPE_PARAMETER", shape.parameter.empty() ? "void" : shape.parameter},
                  {"SHAPE_ARGUMENT", shape.argument},
                  {"UNPACK", shape.unpack},
                  {"REFUSALS", refusal_statements(task)},
                  {"PARAMETERS", listed(shape.parameter, buffer_parameters(task))},
                  {"BUFFERS", buffers},
                  {"DISPATCH", choice},
                  {"PATHS", paths}});
}

std::string header_text(const Winner& winner, const std::string& implementation) {
  const Task& task = winner.task;
  const std::string name = function_name(winner);
  const ShapeText shape = shape_text(winner);
  return fill_in(template_text("cuda_header.h.in"),
                 {{"BANNER", banner(winner, "   ")},
                  {"NAME", name},
                  {"UPPER", upper(name)},
                  {"BUFFERS", buffer_table(task, "  ")},
                  {"SETS", certified_sets(winner)},
                  {"OTHERS", task.graph ? "Other shapes run plain kernels: right, but slow."
                                        : "Other shapes are refused (cudaErrorInvalidValue)."},
                  {"SHAPE", shape.definition},
                  {"SHAPE_PARAMETER", shape.parameter.empty() ? "void" : shape.parameter},
                  {"PARAMETERS", listed(shape.parameter, buffer_parameters(task))},
                  {"IMPLEMENTATION", implementation}});
}

/// One set in a namespace of its own, so that inline functions and templates of two sets are never taken for the same.
std::string instance_block(const Winner& winner, const Instance& instance, const Repeatable& kernel) {
  const std::string name = fmt::format("{}_set_{}", function_name(winner), instance.id);
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
                     upper(function_name(winner)), text, dispatcher);
}

Result<std::vector<File>> device_references(const Winner& winner) {
  const Task& task = winner.task;
  const std::string name = function_name(winner);
  KERF_TRY(const auto naive, runtime_naive(task, codegen::dialects::cuda_cpp, DType::f64, true, name + "_double"));
  return std::vector<File>{
      {fmt::format("reference_{}.cu", name),
       fill_in(template_text("reference.cu.in"), {{"NAME", name},
                                                  {"INCLUDES", naive.includes},
                                                  {"CODE", without_warnings(naive.code)},
                                                  {"HELPERS", std::string(template_text("cuda_helpers.cu.in"))},
                                                  {"PARAMETERS", listed(symbol_parameters(task), kRunParameters)},
                                                  {"BODY", run_body(winner, naive.plan, symbol_arguments(task))}})}};
}

class CudaExporter final : public Exporter {
 public:
  Result<std::vector<File>> library(const Winner& winner, bool one_header) const override {
    const std::string name = function_name(winner);
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
    files.push_back({name + ".cu", fmt::format("// Chooses the kernels that were compiled for a shape.\n"
                                               "#include \"{}.cuh\"\n\n{}",
                                               name, dispatcher)});
    return files;
  }

  /// With the reference on the device: loops on the host would take minutes for the shapes of a GPU.
  Result<std::vector<File>> check_program(const Winner& winner, const std::vector<File>& library) const override {
    CheckProgram check;
    KERF_TRY(check.references, winner.task.graph ? device_references(winner) : host_references(winner));
    check.reference_template = winner.task.graph ? "check_reference_cuda.in" : "check_reference_host.in";
    check.header_extension = ".cuh";
    check.extension = ".cu";
    check.run_template = "check_run_cuda.in";
    check.cmake_template = "CMakeLists_cuda.txt.in";
    check.typed_device_pointers = true;
    // Instructions of exactly one generation need its 'a' variant.
    const bool specific = winner.candidate.source.find("wgmma") != std::string::npos ||
                          winner.candidate.source.find("setmaxnreg") != std::string::npos;
    check.cmake_values["ARCHITECTURE"] = specific ? "90a" : "native";
    return check_files(winner, library, check);
  }

  std::string compile_advice() const override { return "compile with nvcc -O3 -std=c++17 -arch=native"; }
};

}  // namespace

const Exporter& cuda_exporter() {
  static const CudaExporter exporter;
  return exporter;
}

}  // namespace kerf::exporting
