// C++ for processors: one translation unit per certified shape set, a dispatcher, a plain fallback.
#include <fmt/format.h>

#include "base/text.hpp"
#include "codegen/dialects/dialects.hpp"
#include "export/compiled_library.hpp"
#include "language/cpp/kernel_flags.hpp"

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

/// The plain kernel for other shapes.
Result<std::string> fallback_of(const Winner& winner) {
  const Task& task = winner.task;
  const std::string name = function_name(winner);
  KERF_TRY(const auto naive,
           runtime_naive(task, codegen::dialects::cpp, task.precision == Precision::f64 ? DType::f64 : DType::f32,
                         false, name + "_fallback"));
  std::string arguments = symbol_arguments(task);
  for (std::size_t i = 0; i < task.inputs.size() + task.outputs.size(); ++i)
    arguments = listed(arguments, fmt::format("kerf_buffer{{kerf_buffers[{}]}}", i));
  for (std::size_t i = 0; i < naive.plan.scratch.size(); ++i)
    arguments = listed(arguments, fmt::format("kerf_buffer{{kerf_scratch[{}]}}", i));
  return naive.includes +
         filled("cpp_fallback.cpp.in", {{"UPPER", upper(name)},
                                        {"NAME", name},
                                        {"CODE", without_warnings(naive.code)},
                                        {"PARAMETERS", listed(symbol_parameters(task), "void* const* kerf_buffers")},
                                        {"SCRATCH", scratch_sizes(naive.plan.scratch)},
                                        {"ARGUMENTS", arguments}}) +
         undone(make_repeatable(naive.code).macros);
}

CompiledLanguage language_of(const Winner& winner) {
  const std::string status = upper(function_name(winner));
  CompiledLanguage language;
  language.extension = ".cpp";
  language.header_extension = ".h";
  language.header_template = "cpp_header.h.in";
  language.instance_template = "cpp_instance.cpp.in";
  language.prelude = kPrelude;
  language.status = "int";
  language.invalid_shape = status + "_INVALID_SHAPE";
  language.unsupported_shape = status + "_UNSUPPORTED_SHAPE";
  language.macros = {"kerf_kernel"};
  language.values["SCRATCH"] = scratch_sizes(winner.candidate.plan.scratch);
  language.values["ARGUMENTS"] = kernel_arguments(winner);
  language.fallback = [&winner] { return fallback_of(winner); };
  return language;
}

class CppExporter final : public Exporter {
 public:
  Result<std::vector<File>> library(const Winner& winner, bool one_header) const override {
    return compiled_library(winner, language_of(winner), one_header);
  }

  Result<std::vector<File>> check_program(const Winner& winner, const std::vector<File>& library) const override {
    return check_files(winner, library, {.language = "cpp", .header_extension = ".h", .extension = ".cpp"});
  }

  CheckBuild check_build(const Winner&) const override {
    CheckBuild build;
    build.compilers = {"g++", "clang++"};
    build.flags = {"-std=gnu++20",       "-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math",
                   "-ffp-contract=fast", "-w"};
    build.source_extension = ".cpp";
    return build;
  }

  Result<PythonBuild> python_build(const Winner&) const override {
    PythonBuild build{.language = "cpp", .prelude = std::string(cpp::kernel_includes())};
    build.options = cpp::kernel_flags();
    build.options.push_back(cpp::arch_flag(""));
    return build;
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
