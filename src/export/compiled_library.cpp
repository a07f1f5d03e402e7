#include "export/compiled_library.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace kerf::exporting {
namespace {

/// One set in a namespace of its own, so that inline functions and templates of two sets are never taken for the same.
std::string instance_block(const Winner& winner, const CompiledLanguage& language, const Instance& instance,
                           const Repeatable& kernel) {
  templates::Record values = language.values;
  values["NAME"] = function_name(winner);
  values["ID"] = instance.id;
  values["CONSTANTS"] = constant_definitions(instance.constants());
  values["SOURCE"] = without_warnings(kernel.code);
  const std::string name = fmt::format("{}_set_{}", function_name(winner), instance.id);
  return fmt::format("\nnamespace {0} {{\n{1}{2}{3}}}  // namespace {0}\n", name,
                     filled(language.instance_template, values), undone(kernel.macros), undone(language.macros));
}

std::string prelude(const CompiledLanguage& language, const Repeatable& kernel) {
  std::string text = language.prelude;
  for (const auto& include : kernel.includes) text += fmt::format("#include {}\n", include);
  return text;
}

Result<std::string> dispatcher(const Winner& winner, const CompiledLanguage& language) {
  const Task& task = winner.task;
  const std::string arguments = listed("kerf_buffers", language.more_arguments);
  templates::Record values = common_values(winner);
  std::string buffers;
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors) buffers = listed(buffers, "(void*)" + tensor.name);
  values["BUFFERS"] = buffers;
  values["STATUS"] = language.status;
  values["INVALID_SHAPE"] = language.invalid_shape;
  values["MORE_PARAMETERS"] = language.more_parameters.empty() ? "" : ", " + language.more_parameters;
  values["RUN_PARAMETERS"] = run_parameters(language);
  values["RUN_ARGUMENTS"] = arguments;
  values["FALLBACK"] = "";
  values["OTHERWISE"] = language.unsupported_shape;
  if (task.graph) {
    KERF_TRY(values["FALLBACK"], language.fallback());
    values["OTHERWISE"] =
        fmt::format("{}_plain::kerf_run({})", function_name(winner), listed(symbol_arguments(task), arguments));
  }
  return filled("dispatch.in", values);
}

std::string header(const Winner& winner, const CompiledLanguage& language, const std::string& implementation) {
  templates::Record values = common_values(winner);
  values["IMPLEMENTATION"] = implementation;
  return filled(language.header_template, values);
}

}  // namespace

std::string run_parameters(const CompiledLanguage& language) {
  return listed("void* const* kerf_buffers", language.more_parameters);
}

Result<std::vector<File>> compiled_library(const Winner& winner, const CompiledLanguage& language, bool one_header) {
  const std::string name = function_name(winner), header_file = name + language.header_extension;
  const Repeatable kernel = make_repeatable(winner.candidate.source);
  const std::string before = prelude(language, kernel);
  KERF_TRY(const std::string dispatch, dispatcher(winner, language));
  if (one_header) {
    std::string text = before;
    for (const auto& instance : instances_of(winner)) text += instance_block(winner, language, instance, kernel);
    return std::vector<File>{
        {header_file,
         header(winner, language,
                fmt::format("\n#if defined({0}_IMPLEMENTATION) && !defined(KERF_EXPORT_{0}_IMPLEMENTED)\n#define "
                            "KERF_EXPORT_{0}_IMPLEMENTED\n{1}\n{2}#endif  // {0}_IMPLEMENTATION\n",
                            upper(name), text, dispatch))}};
  }
  std::vector<File> files{{header_file, header(winner, language, "")}};
  for (const auto& instance : instances_of(winner))
    files.push_back({fmt::format("{}_{}{}", name, instance.id, language.extension),
                     fmt::format("// {} for shape set '{}'.\n{}{}", name, instance.name, before,
                                 instance_block(winner, language, instance, kernel))});
  files.push_back({name + language.extension,
                   fmt::format("// Chooses the kernel that was compiled for a shape.\n#include \"{}\"\n\n{}",
                               header_file, dispatch)});
  return files;
}

}  // namespace kerf::exporting
