#include "export/export.hpp"

#include <fmt/format.h>

#include <cctype>

#include "base/text.hpp"
#include "export/parts.hpp"
#include "model/names.hpp"

namespace kerf::exporting {
namespace {

/// Every tunable of the kernel has a value, and every certified shape satisfies what the kernel requires.
Status check_instances(const Winner& winner) {
  for (const auto& instance : instances_of(winner)) {
    for (const auto& tunable : winner.candidate.tunables)
      if (!instance.tunables.contains(tunable.name))
        return fail(Errc::invalid_input,
                    fmt::format("the tunable '{}' has no value for shape set '{}'", tunable.name, instance.name));
    for (std::size_t i = 0; i < winner.candidate.requirements.size(); ++i) {
      KERF_TRY(const auto holds, winner.candidate.requirements[i].evaluate(instance.constants()));
      if (holds == 0)
        return fail(Errc::invalid_input, fmt::format("the kernel requires {}, which does not hold for shape set '{}'",
                                                     winner.candidate.requirement_texts[i], instance.name));
    }
  }
  return {};
}

/// The function's name is a C identifier, and none of the task's: both are visible in the exported functions.
Status check_function_name(const Winner& winner) {
  if (!winner.name.empty()) KERF_TRY_VOID(check_name("the function name", winner.name));
  const std::string name = function_name(winner);
  std::vector<std::string> taken = symbol_names(winner.task);
  for (const auto* tensors : {&winner.task.inputs, &winner.task.outputs})
    for (const auto& tensor : *tensors) taken.push_back(tensor.name);
  for (const auto& word : taken)
    if (word == name)
      return fail(
          Errc::invalid_input,
          fmt::format("the exported function would be called '{}', as one of the task's buffers or shape symbols "
                      "is; choose another name with --name",
                      name));
  return {};
}

constexpr std::string_view kMark = "Written by kerf export; a later export to this place replaces it.";

}  // namespace

void mark_exported(File& file) {
  const std::string_view path = file.path;
  std::string line = fmt::format("/* {} */\n", kMark);
  if (path == "CMakeLists.txt" || path.ends_with(".py")) line = fmt::format("# {}\n", kMark);
  if (path.ends_with(".md")) line = fmt::format("<!-- {} -->\n", kMark);
  file.text.insert(0, line);
}

bool is_exported(std::string_view text) {
  return text.substr(0, text.find('\n')).find(kMark) != std::string_view::npos;
}

std::optional<Format> format_from_name(std::string_view name) {
  if (name == "source") return Format::source;
  if (name == "c-header") return Format::c_header;
  if (name == "cmake") return Format::cmake;
  return std::nullopt;
}

std::vector<std::string> format_names() { return {"source", "c-header", "cmake"}; }

std::string function_name(const Winner& winner) {
  if (!winner.name.empty()) return winner.name;
  const std::string name = identifier(winner.task.name);
  const bool digit = std::isdigit(static_cast<unsigned char>(name.empty() ? '0' : name[0])) != 0;
  return digit || is_reserved_word(name) ? "kernel_" + name : name;
}

Result<std::vector<File>> export_files(const Exporter& exporter, const Winner& winner, Format format) {
  if (instances_of(winner).empty())
    return fail(Errc::invalid_input, fmt::format("the task has no shape set for target '{}'", winner.target));
  KERF_TRY_VOID(check_function_name(winner));
  KERF_TRY_VOID(check_instances(winner));
  KERF_TRY(auto files, exporter.library(winner, format == Format::c_header));
  if (format == Format::cmake) {
    KERF_TRY(auto check, exporter.check_program(winner, files));
    files.insert(files.end(), std::make_move_iterator(check.begin()), std::make_move_iterator(check.end()));
  }
  for (File& file : files) mark_exported(file);
  return files;
}

}  // namespace kerf::exporting
