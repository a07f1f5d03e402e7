// C++ for processors: one translation unit per certified shape set, a dispatcher, a plain fallback.
#include <fmt/format.h>

#include "base/fill_in.hpp"
#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "export/check_program.hpp"
#include "export/domain.hpp"
#include "export/parts.hpp"

namespace kerf::exporting {
namespace {

/// What the judge's compiler sees before every kernel.
constexpr const char* kPrelude = R"(#include <algorithm>
#include <array>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif
)";

/// "kerf_buffer{kerf_buffers[0]}, ..." for inputs, outputs and scratch.
std::string kernel_arguments(const Winner& winner) {
  std::vector<std::string> parts;
  const std::size_t own = winner.task.inputs.size() + winner.task.outputs.size();
  for (std::size_t i = 0; i < own; ++i) parts.push_back(fmt::format("kerf_buffer{{kerf_buffers[{}]}}", i));
  for (std::size_t i = 0; i < winner.candidate.plan.scratch.size(); ++i)
    parts.push_back(fmt::format("kerf_buffer{{kerf_scratch[{}]}}", i));
  return join(parts, ", ");
}

std::string scratch_sizes(const std::vector<ir::TensorType>& scratch) {
  std::vector<std::string> parts;
  for (const auto& tensor : scratch) parts.push_back(bytes_expression(tensor));
  parts.emplace_back("0");  // an array is never empty
  return join(parts, ", ");
}

/// Kernel and runner of one shape set, without includes.
std::string instance_text(const Winner& winner, const Instance& instance, const std::string& source) {
  return fill_in(template_text("cpp_instance.cpp.in"), {{"NAME", function_name(winner)},
                                                        {"ID", instance.id},
                                                        {"SET", instance.name},
                                                        {"CONSTANTS", constant_definitions(instance.constants())},
                                                        {"SOURCE", without_warnings(source)},
                                                        {"SCRATCH", scratch_sizes(winner.candidate.plan.scratch)},
                                                        {"ARGUMENTS", kernel_arguments(winner)}});
}

/// The plain kernel for other shapes: a namespace with kerf_run(symbols..., kerf_buffers).
struct Fallback {
  std::string includes, code, call, path;
};
Result<Fallback> fallback_of(const Winner& winner) {
  const Task& task = winner.task;
  const std::string name = function_name(winner), status = upper(name);
  if (!task.graph) return Fallback{"", "", status + "_UNSUPPORTED_SHAPE", "0"};
  KERF_TRY(const auto naive,
           runtime_naive(task, codegen::dialects::cpp, task.precision == Precision::f64 ? DType::f64 : DType::f32,
                         false, name + "_fallback"));
  std::string arguments = symbol_arguments(task);
  for (std::size_t i = 0; i < task.inputs.size() + task.outputs.size(); ++i)
    arguments = listed(arguments, fmt::format("kerf_buffer{{kerf_buffers[{}]}}", i));
  for (std::size_t i = 0; i < naive.plan.scratch.size(); ++i)
    arguments = listed(arguments, fmt::format("kerf_buffer{{kerf_scratch[{}]}}", i));
  std::string code = fill_in(template_text("cpp_fallback.cpp.in"),
                             {{"UPPER", status},
                              {"NAME", name},
                              {"CODE", without_warnings(naive.code)},
                              {"PARAMETERS", listed(symbol_parameters(task), "void* const* kerf_buffers")},
                              {"SCRATCH", scratch_sizes(naive.plan.scratch)},
                              {"ARGUMENTS", arguments}});
  for (const auto& macro : make_repeatable(naive.code).macros) code += fmt::format("#undef {}\n", macro);
  return Fallback{naive.includes, std::move(code),
                  fmt::format("{}_plain::kerf_run({})", name, listed(symbol_arguments(task), "kerf_buffers")),
                  "\"fallback\""};
}

std::string dispatch(const Winner& winner) {
  std::string text;
  for (const auto& instance : instances_of(winner))
    text += fmt::format("  if ({}) return {}_set_{}_run(kerf_buffers);\n", same_shape(instance), function_name(winner),
                        instance.id);
  return text;
}

std::string paths(const Winner& winner) {
  std::string text;
  for (const auto& instance : instances_of(winner))
    text += fmt::format("  if ({}) return \"{}\";\n", same_shape(instance), instance.name);
  return text;
}

std::string buffer_list(const Task& task) {
  std::vector<std::string> parts;
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors) parts.push_back(fmt::format("(void*){}", tensor.name));
  return join(parts, ", ");
}

Result<std::string> dispatcher_text(const Winner& winner) {
  const Task& task = winner.task;
  const std::string name = function_name(winner);
  const ShapeText shape = shape_text(winner);
  KERF_TRY(const Fallback fallback, fallback_of(winner));
  std::string runs;
  for (const auto& instance : instances_of(winner))
    runs += fmt::format("extern \"C\" int {}_set_{}_run(void* const* kerf_buffers);\n", name, instance.id);
  return fill_in(template_text("cpp_dispatch.cpp.in"),
                 {{"NAME", name},
                  {"UPPER", upper(name)},
                  {"INCLUDES", fallback.includes},
                  {"RUNS", runs},
                  {"FALLBACK", fallback.code},
                  {"FALLBACK_CALL", fallback.call},
                  {"FALLBACK_PATH", fallback.path},
                  {"SHAPE_PARAMETER", shape.parameter.empty() ? "void" : shape.parameter},
                  {"SHAPE_ARGUMENT", shape.argument},
                  {"UNPACK", shape.unpack},
                  {"REFUSALS", refusal_statements(task)},
                  {"PARAMETERS", listed(shape.parameter, buffer_parameters(task))},
                  {"BUFFERS", buffer_list(task)},
                  {"DISPATCH", dispatch(winner)},
                  {"PATHS", paths(winner)}});
}

std::string header_text(const Winner& winner, const std::string& implementation) {
  const Task& task = winner.task;
  const std::string name = function_name(winner);
  const ShapeText shape = shape_text(winner);
  return fill_in(
      template_text("cpp_header.h.in"),
      {{"BANNER", banner(winner, "   ")},
       {"NAME", name},
       {"UPPER", upper(name)},
       {"BUFFERS", buffer_table(task, "  ")},
       {"SETS", certified_sets(winner)},
       {"OTHERS", task.graph ? "Other shapes run a plain kernel: right, but slow." : "Other shapes are refused."},
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
  return text + fmt::format("#undef kerf_kernel\n}}  // namespace {}\n", name);
}

std::string prelude(const Repeatable& kernel) {
  std::string text(kPrelude);
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

class CppExporter final : public Exporter {
 public:
  Result<std::vector<File>> library(const Winner& winner, bool one_header) const override {
    const std::string name = function_name(winner);
    if (one_header) {
      KERF_TRY(const std::string implementation, implementation_text(winner));
      return std::vector<File>{{name + ".h", header_text(winner, implementation)}};
    }
    std::vector<File> files{{name + ".h", header_text(winner, "")}};
    const Repeatable kernel = make_repeatable(winner.candidate.source);
    for (const auto& instance : instances_of(winner))
      files.push_back({fmt::format("{}_{}.cpp", name, instance.id),
                       fmt::format("// {} for shape set '{}'.\n{}{}", name, instance.name, prelude(kernel),
                                   instance_block(winner, instance, kernel))});
    KERF_TRY(const std::string dispatcher, dispatcher_text(winner));
    files.push_back({name + ".cpp", fmt::format("// Chooses the kernel that was compiled for a shape.\n"
                                                "#include \"{}.h\"\n\n{}",
                                                name, dispatcher)});
    return files;
  }

  Result<std::vector<File>> check_program(const Winner& winner, const std::vector<File>& library) const override {
    CheckProgram check;
    KERF_TRY(check.references, host_references(winner));
    check.reference_template = "check_reference_host.in";
    check.header_extension = ".h";
    check.extension = ".cpp";
    check.run_template = "check_run_cpp.in";
    check.cmake_template = "CMakeLists_cpp.txt.in";
    return check_files(winner, library, check);
  }

  std::string compile_advice() const override {
    return "compile with -O3 -march=native -fopenmp -fno-math-errno -fno-trapping-math -ffp-contract=fast";
  }
};

}  // namespace

const Exporter& cpp_exporter() {
  static const CppExporter exporter;
  return exporter;
}

}  // namespace kerf::exporting
