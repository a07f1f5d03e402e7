#include "export/export.hpp"

#include <fmt/format.h>

#include <cctype>

#include "base/text.hpp"
#include "export/parts.hpp"

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

}  // namespace

std::optional<Format> format_from_name(std::string_view name) {
  if (name == "source") return Format::source;
  if (name == "c-header") return Format::c_header;
  if (name == "cmake") return Format::cmake;
  return std::nullopt;
}

std::vector<std::string> format_names() { return {"source", "c-header", "cmake"}; }

std::string function_name(const Task& task) {
  const std::string name = identifier(task.name);
  return std::isdigit(static_cast<unsigned char>(name.empty() ? '0' : name[0])) != 0 ? "kernel_" + name : name;
}

Result<std::vector<File>> export_files(const Winner& winner, Format format) {
  if (instances_of(winner).empty())
    return fail(Errc::invalid_input, fmt::format("the task has no shape set for target '{}'", winner.target));
  KERF_TRY_VOID(check_instances(winner));
  const bool one_header = format == Format::c_header;
  const auto make = winner.target == "cpu"      ? cpu_files
                    : winner.target == "opencl" ? opencl_files
                    : winner.target == "cuda"   ? cuda_files
                                                : nullptr;
  if (make == nullptr)
    return fail(Errc::invalid_input,
                fmt::format("kernels for target '{}' cannot be exported; cpu, opencl and cuda can", winner.target));
  KERF_TRY(auto files, make(winner, one_header));
  if (format != Format::cmake) return files;
  KERF_TRY(auto check, check_files(winner, files));
  files.insert(files.end(), std::make_move_iterator(check.begin()), std::make_move_iterator(check.end()));
  return files;
}

}  // namespace kerf::exporting
