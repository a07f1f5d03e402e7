// OpenCL: one C file that carries the kernel as text and compiles it for the shape at hand.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "export/check_program.hpp"
#include "export/gpu_parts.hpp"
#include "language/opencl_c/source_text.hpp"

namespace kerf::exporting {
namespace {

/// Constants of one variant: {"rows", 1} where 1 says that an enumerator may have the name itself.
std::string constant_table(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    text += fmt::format("{{\"{}\", {}}}, ", name, opencl::with_constants("", {{name, 1}}).starts_with("enum") ? 1 : 0);
  return text + "{0, 0}";
}

std::vector<std::string> tunable_names(const Winner& winner) {
  std::vector<std::string> names;
  for (const auto& [name, value] : winner.tunables) names.push_back(name);
  return names;
}

/// "const long long rows = kerf_values[0];" for every constant, so that launch geometry can be written in the plan's
/// own words.
std::string unpack(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("  const long long {0} = kerf_values[{1}]; (void){0};\n", names[i], i);
  return text;
}

/// Fills in launches and scratch sizes of one plan.
std::string geometry(const Winner& winner, const LaunchPlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.scratch.size(); ++i)
    text += fmt::format("  kerf_plan->scratch_bytes[{}] = {};\n", i, bytes_expression(plan.scratch[i]));
  text += fmt::format("  kerf_plan->scratch_count = {};\n  kerf_plan->launch_count = {};\n", plan.scratch.size(),
                      plan.launches.size());
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    std::vector<std::string> indices;
    for (const std::size_t index : argument_indices(winner, plan, launch)) indices.push_back(std::to_string(index));
    text += fmt::format(
        "  {{\n    const long long kerf_grid[3] = {{{}}}, kerf_block[3] = {{{}}};\n    static const int "
        "kerf_arguments[] = {{{}}};\n"
        "    {}_kerf_set_launch(&kerf_plan->launches[{}], \"{}\", {}, kerf_grid, kerf_block, kerf_arguments, {});\n  "
        "}}\n",
        three(launch.grid), three(launch.block), join(indices, ", "), function_name(winner), i, launch.kernel,
        std::max(launch.grid.size(), launch.block.size()), indices.size());
  }
  return text;
}

std::string certified_rows(const Winner& winner) {
  std::string text;
  for (const auto& instance : instances_of(winner)) {
    std::string values;
    for (const auto& name : symbol_names(winner.task)) values += fmt::format("{}LL, ", instance.symbols.at(name));
    for (const auto& [name, value] : instance.tunables) values += fmt::format("{}LL, ", value);
    text += fmt::format("  {{\"{}\", {{{}0}}}},\n", instance.name, values);
  }
  return text;
}

std::string memory_parameters(const Task& task) {
  std::vector<std::string> parts;
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors) parts.push_back("cl_mem " + tensor.name);
  return join(parts, ", ");
}

std::string memory_arguments(const Task& task) {
  std::vector<std::string> parts;
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors) parts.push_back(tensor.name);
  return join(parts, ", ");
}

/// The generated fallback as an ordinary OpenCL candidate.
Result<Candidate> fallback_of(const Task& task) {
  codegen::NaiveOptions options;
  options.compute = task.precision == Precision::f64 ? DType::f64 : DType::f32;
  options.kernel_prefix = "kerf_plain";
  KERF_TRY(std::string source, codegen::generate_naive(*task.graph, codegen::dialects::opencl_c, options));
  return parse_candidate("fallback", std::move(source));
}

Result<templates::Record> values_of(const Winner& winner) {
  const Task& task = winner.task;
  std::vector<std::string> constants = symbol_names(task);
  const std::size_t symbol_count = constants.size();
  for (const auto& tunable : tunable_names(winner)) constants.push_back(tunable);
  std::string store;
  const auto symbol_list = symbol_names(task);
  for (std::size_t i = 0; i < symbol_list.size(); ++i)
    store += fmt::format("  kerf_plan->values[{}] = kerf_shape.{};\n", i, symbol_list[i]);
  std::string fallback_source, fallback_geometry;
  std::size_t scratch = winner.candidate.plan.scratch.size(), launches = winner.candidate.plan.launches.size();
  if (task.graph) {
    KERF_TRY(const Candidate fallback, fallback_of(task));
    fallback_source = string_elements(fallback.source, "    ");
    fallback_geometry = unpack(symbol_list) + geometry(winner, fallback.plan);
    scratch = std::max(scratch, fallback.plan.scratch.size());
    launches = std::max(launches, fallback.plan.launches.size());
  }
  templates::Record values = common_values(winner);
  values["MEMORY"] = memory_parameters(task);
  values["MEMORY_ARGUMENTS"] = memory_arguments(task);
  values["SYMBOL_COUNT"] = std::to_string(symbol_count);
  values["VALUE_COUNT"] = std::to_string(constants.size());
  values["SCRATCH_COUNT"] = std::to_string(std::max<std::size_t>(1, scratch));
  values["LAUNCH_COUNT"] = std::to_string(std::max<std::size_t>(1, launches));
  values["STORE_SYMBOLS"] = store;
  values["CONSTANTS"] = constant_table(constants);
  values["CERTIFIED"] = certified_rows(winner);
  values["SOURCE"] = string_elements(winner.candidate.source, "    ");
  values["GEOMETRY"] = unpack(constants) + geometry(winner, winner.candidate.plan);
  values["FALLBACK_SOURCE"] = fallback_source;
  values["FALLBACK_GEOMETRY"] = fallback_geometry;
  values["IMPLEMENTATION"] = "";
  return values;
}

class OpenclExporter final : public Exporter {
 public:
  Result<std::vector<File>> library(const Winner& winner, bool one_header) const override {
    const std::string name = function_name(winner);
    KERF_TRY(templates::Record values, values_of(winner));
    const std::string implementation = filled("opencl.c.in", values);
    if (!one_header)
      return std::vector<File>{
          {name + ".h", filled("opencl.h.in", values)},
          {name + ".c",
           fmt::format("/* Compiles and launches the kernels. */\n#include \"{}.h\"\n\n{}", name, implementation)},
          {name + ".cl", winner.candidate.source}};
    values["IMPLEMENTATION"] = fmt::format(
        "\n#if defined({0}_IMPLEMENTATION) && !defined(KERF_EXPORT_{0}_IMPLEMENTED)\n#define "
        "KERF_EXPORT_{0}_IMPLEMENTED\n{1}#endif /* {0}_IMPLEMENTATION */\n",
        upper(name), implementation);
    return std::vector<File>{{name + ".h", filled("opencl.h.in", values)}};
  }

  Result<std::vector<File>> check_program(const Winner& winner, const std::vector<File>& library) const override {
    return check_files(winner, library, {.language = "opencl_c", .header_extension = ".h", .extension = ".cpp"});
  }

  CheckBuild check_build(const Winner&) const override {
    CheckBuild build;
    build.compilers = {"g++", "clang++"};
    build.flags = {"-O2", "-fopenmp", "-w"};
    build.libraries = {"-l:libOpenCL.so.1"};
    build.readable = {"/etc/OpenCL", "/sys/devices/system", "/proc/cpuinfo"};
    build.source_extension = ".c";
    return build;
  }

  Result<PythonBuild> python_build(const Winner& winner) const override {
    return fail(
        Errc::invalid_input,
        fmt::format("PyTorch has no tensors on the devices of target '{}', so its kernels cannot be exported as a "
                    "module; the formats source, c-header and cmake can",
                    winner.target));
  }

  std::string compile_advice() const override { return "compile as C99 and link with -lOpenCL"; }
};

}  // namespace

const Exporter& opencl_exporter() {
  static const OpenclExporter exporter;
  return exporter;
}

}  // namespace kerf::exporting
