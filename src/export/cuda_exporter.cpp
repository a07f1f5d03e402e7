// CUDA: one translation unit per certified shape set with its launcher, a dispatcher, plain kernels for other shapes.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "export/compiled_library.hpp"
#include "export/gpu_parts.hpp"
#include "language/cuda_cpp/standard_headers.hpp"

namespace kerf::exporting {
namespace {

constexpr const char* kRunParameters = "void* const* kerf_buffers, cudaStream_t kerf_stream";

/// Instructions of exactly one generation need its 'a' variant.
bool needs_one_generation(const Winner& winner) {
  return winner.candidate.source.find("wgmma") != std::string::npos ||
         winner.candidate.source.find("setmaxnreg") != std::string::npos;
}

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

/// What cuda_run.cu.in needs: a function's statements that allocate scratch and launch a plan.
void add_run(templates::Record& values, const Winner& winner, const LaunchPlan& plan, const std::string& first) {
  values["SCRATCH"] = scratch_sizes(plan.scratch);
  values["LAUNCHES"] = launches(winner, plan, first);
}

/// Plain kernels, whose symbols are parameters, filled into `name`.
Result<std::string> plain_kernels(const Winner& winner, std::string_view name, DType compute, bool compute_outputs,
                                  const std::string& prefix) {
  const Task& task = winner.task;
  KERF_TRY(const auto naive, runtime_naive(task, codegen::dialects::cuda_cpp, compute, compute_outputs, prefix));
  templates::Record values;
  values["NAME"] = function_name(winner);
  values["INCLUDES"] = naive.includes;
  values["CODE"] = without_warnings(naive.code);
  values["PARAMETERS"] = listed(symbol_parameters(task), kRunParameters);
  add_run(values, winner, naive.plan, symbol_arguments(task));
  return filled(name, values) + undone(make_repeatable(naive.code).macros);
}

CompiledLanguage language_of(const Winner& winner) {
  const std::string name = function_name(winner);
  CompiledLanguage language;
  language.extension = ".cu";
  language.header_extension = ".cuh";
  language.header_template = "cuda_header.h.in";
  language.instance_template = "cuda_instance.cu.in";
  language.prelude = "#include <cuda_runtime.h>\n";
  language.status = "cudaError_t";
  language.invalid_shape = language.unsupported_shape = "cudaErrorInvalidValue";
  language.more_parameters = "cudaStream_t kerf_stream";
  language.more_arguments = "kerf_stream";
  language.macros = kernel_names(winner.candidate.plan);
  templates::List kernels;
  for (const auto& kernel : language.macros) kernels.push_back(kernel);
  language.values["KERNELS"] = kernels;
  add_run(language.values, winner, winner.candidate.plan, "");
  language.fallback = [&winner, name] {
    const DType compute = winner.task.precision == Precision::f64 ? DType::f64 : DType::f32;
    return plain_kernels(winner, "cuda_fallback.cu.in", compute, false, name + "_fallback");
  };
  return language;
}

class CudaExporter final : public Exporter {
 public:
  Result<std::vector<File>> library(const Winner& winner, bool one_header) const override {
    return compiled_library(winner, language_of(winner), one_header);
  }

  /// With the reference on the device: loops on the host would take minutes for the shapes of a GPU.
  Result<std::vector<File>> check_program(const Winner& winner, const std::vector<File>& library) const override {
    CheckProgram check{.language = "cuda_cpp", .header_extension = ".cuh", .extension = ".cu"};
    check.typed_device_pointers = true;
    if (winner.task.graph) {
      const std::string name = function_name(winner);
      KERF_TRY(std::string reference, plain_kernels(winner, "reference.cu.in", DType::f64, true, name + "_double"));
      check.references = {{fmt::format("reference_{}.cu", name), std::move(reference)}};
    }
    check.cmake_values["ARCHITECTURE"] = needs_one_generation(winner) ? "90a" : "native";
    return check_files(winner, library, check);
  }

  CheckBuild check_build(const Winner& winner) const override {
    CheckBuild build;
    build.compilers = {"nvcc"};
    build.flags = {"-std=c++17", "-O3", needs_one_generation(winner) ? "-arch=sm_90a" : "-arch=native",
                   "-diag-suppress=177", "-w"};
    build.has_race_checker = true;
    build.uses_devices = true;
    build.source_extension = ".cu";
    return build;
  }

  Result<PythonBuild> python_build(const Winner& winner) const override {
    PythonBuild build{.language = "cuda_cpp", .options = kernel_options()};
    // They include each other: all or none.
    const auto used = [&](const StandardHeader& header) {
      return winner.candidate.source.find(header.name) != std::string::npos;
    };
    if (const auto& all = standard_headers(); std::any_of(all.begin(), all.end(), used))
      for (const StandardHeader& header : all) build.headers[header.name] = header.text;
    return build;
  }

  std::string compile_advice() const override { return "compile with nvcc -O3 -std=c++17 -arch=native"; }
};

}  // namespace

const Exporter& cuda_exporter() {
  static const CudaExporter exporter;
  return exporter;
}

}  // namespace kerf::exporting
