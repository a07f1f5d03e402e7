// C++ for processors: one translation unit per certified shape set, a dispatcher, a plain fallback.
#include <fmt/format.h>

#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "export/parts.hpp"
#include "report/fill_in.hpp"

namespace kerf::exporting {
namespace {

using report::fill_in;

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
#include <omp.h>
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
  const std::string name = function_name(winner.task);
  return fill_in(template_text("cpu_instance.cpp.in"), {{"NAME", name},
                                                        {"ID", instance.id},
                                                        {"SET", instance.name},
                                                        {"CONSTANTS", constant_definitions(instance.constants())},
                                                        {"SOURCE", source},
                                                        {"SCRATCH", scratch_sizes(winner.candidate.plan.scratch)},
                                                        {"ARGUMENTS", kernel_arguments(winner)}});
}

std::string fallback_arguments(const Task& task, std::size_t scratch) {
  std::vector<std::string> parts;
  if (!symbol_names(task).empty()) parts.push_back(symbol_arguments(task));
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors) parts.push_back(tensor.name);
  for (std::size_t i = 0; i < scratch; ++i) parts.push_back(fmt::format("kerf_buffer{{kerf_scratch[{}]}}", i));
  return join(parts, ", ");
}

struct Fallback {
  std::string includes, code, call;
};
Result<Fallback> fallback_of(const Task& task) {
  const std::string status = upper(function_name(task));
  if (!task.graph) return Fallback{"", "", fmt::format("  return {}_UNSUPPORTED_SHAPE;\n", status)};
  KERF_TRY(const auto naive,
           runtime_naive(task, codegen::dialects::cpp, task.precision == Precision::f64 ? DType::f64 : DType::f32,
                         false, function_name(task) + "_fallback"));
  return Fallback{naive.includes, naive.code,
                  fill_in(template_text("cpu_fallback.cpp.in"),
                          {{"UPPER", status},
                           {"NAME", function_name(task)},
                           {"SCRATCH", scratch_sizes(naive.plan.scratch)},
                           {"ARGUMENTS", fallback_arguments(task, naive.plan.scratch.size())}})};
}

std::string dispatch(const Winner& winner) {
  std::string text;
  for (const auto& instance : instances_of(winner))
    text += fmt::format("  if ({}) return {}_{}_run(kerf_buffers);\n", same_shape(instance), function_name(winner.task),
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
  const std::string name = function_name(task), symbols = symbol_parameters(task);
  KERF_TRY(const Fallback fallback, fallback_of(task));
  std::string runs, undo;
  for (const auto& macro : make_repeatable(fallback.code).macros) undo += fmt::format("#undef {}\n", macro);
  for (const auto& instance : instances_of(winner))
    runs += fmt::format("extern \"C\" int {}_{}_run(void* const* kerf_buffers);\n", name, instance.id);
  return fill_in(template_text("cpu_dispatch.cpp.in"),
                 {{"NAME", name},
                  {"UPPER", upper(name)},
                  {"INCLUDES", fallback.includes},
                  {"RUNS", runs},
                  {"FALLBACK", fallback.code},
                  {"FALLBACK_CALL", fallback.call},
                  {"FALLBACK_PATH", task.graph ? "\"fallback\"" : "0"},
                  {"SYMBOLS", symbols.empty() ? "void" : symbols},
                  {"PARAMETERS", symbols + (symbols.empty() ? "" : ", ") + buffer_parameters(task)},
                  {"VALID", valid_shape(task)},
                  {"BUFFERS", buffer_list(task)},
                  {"DISPATCH", dispatch(winner)},
                  {"PATHS", paths(winner)}}) +
         undo;
}

std::string header_text(const Winner& winner, const std::string& implementation) {
  const Task& task = winner.task;
  const std::string name = function_name(task), symbols = symbol_parameters(task);
  std::string sets;
  for (const auto& instance : instances_of(winner)) {
    std::vector<std::string> values;
    for (const auto& [symbol, value] : instance.symbols) values.push_back(fmt::format("{} = {}", symbol, value));
    sets += fmt::format("     {}: {}\n", instance.name, join(values, ", "));
  }
  return fill_in(
      template_text("cpu_header.h.in"),
      {{"BANNER", banner(winner, "   ")},
       {"NAME", name},
       {"UPPER", upper(name)},
       {"BUFFERS", buffer_table(task, "  ")},
       {"SETS", sets},
       {"OTHERS", task.graph ? "Other shapes run a plain kernel: right, but slow." : "Other shapes are refused."},
       {"SYMBOLS", symbols.empty() ? "void" : symbols},
       {"PARAMETERS", symbols + (symbols.empty() ? "" : ", ") + buffer_parameters(task)},
       {"IMPLEMENTATION", implementation}});
}

/// One set in a namespace of its own, so that inline functions and templates of two sets are never taken for the same.
std::string instance_block(const Winner& winner, const Instance& instance, const Repeatable& kernel) {
  const std::string name = fmt::format("{}_{}", function_name(winner.task), instance.id);
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
                     upper(function_name(winner.task)), text, dispatcher);
}

}  // namespace

Result<std::vector<File>> cpu_files(const Winner& winner, bool one_header) {
  const std::string name = function_name(winner.task);
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
  files.push_back(
      {name + ".cpp",
       fmt::format("// Chooses the kernel that was compiled for a shape.\n#include \"{}.h\"\n\n{}", name, dispatcher)});
  return files;
}

}  // namespace kerf::exporting
