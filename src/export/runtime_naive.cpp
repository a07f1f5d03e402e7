// The naive kernel with shape symbols as parameters: generated text has one function per line we look for, so that is a
// matter of adding parameters where functions are defined and arguments where they are called.
#include <fmt/format.h>

#include "base/text.hpp"
#include "codegen/dialect.hpp"
#include "export/parts.hpp"

namespace kerf::exporting {
namespace {

constexpr const char* kPrefix = "kerf_plain";

std::string after_header(const std::string& source) {
  const auto end = source.find("*/\n");
  return end == std::string::npos ? source : source.substr(end + 3);
}

/// True when `line` defines a function whose parameters begin at `at`.
bool is_definition(std::string_view line) {
  return line.ends_with("{") && line.find("void ") != std::string_view::npos;
}

}  // namespace

Result<RuntimeNaive> runtime_naive(const Task& task, const codegen::DialectTraits& dialect, DType compute,
                                   bool compute_outputs, const std::string& entry) {
  KERF_CHECK(task.graph.has_value(), "only expressions have naive kernels");
  codegen::NaiveOptions options;
  options.compute = compute;
  options.outputs_in_compute_type = compute_outputs;
  options.kernel_prefix = entry + "_" + kPrefix;
  KERF_TRY(const std::string source, codegen::generate_naive(*task.graph, dialect, options));
  KERF_TRY(const Candidate parsed, parse_candidate("naive", source));
  RuntimeNaive naive;
  naive.plan = parsed.plan;

  std::vector<std::string> parameters;
  for (const auto& name : symbol_names(task)) parameters.push_back("[[maybe_unused]] const long long " + name);
  const std::string with = join(parameters, ", "), pass = symbol_arguments(task);
  const std::string call = options.kernel_prefix + "_", main = "extern \"C\" void kerf_kernel(";
  const bool host = dialect.host_entry;
  for (auto line : split(after_header(source), '\n')) {
    if (line.starts_with("#include")) {
      naive.includes += line + "\n";
      continue;
    }
    if (line.starts_with(main)) {
      line = fmt::format("[[maybe_unused]] static void {}({}{}{}", entry, with, with.empty() ? "" : ", ",
                         line.substr(main.size()));
    } else if (const auto at = line.find(call); at != std::string::npos) {
      const auto open = line.find('(', at);
      const bool defines = is_definition(line);
      const std::string& more = defines ? with : pass;
      if (!more.empty()) line.insert(open + 1, more + ", ");
      naive.code += line + "\n";
      if (defines && host) naive.code += "#pragma omp parallel for\n";  // every item writes its own elements
      continue;
    }
    naive.code += line + "\n";
  }
  return naive;
}

}  // namespace kerf::exporting
