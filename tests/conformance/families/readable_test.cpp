// Written kernels are read and edited by people and models: compilers find no parameter, variable or function in them
// that nothing uses. A sample: each variant of a family on two tasks. OpenCL C is looked at where there is a clang.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.hpp"
#include "base/test_paths.hpp"
#include "codegen/dialects/dialects.hpp"
#include "propose/synth/synthesiser.hpp"
#include "task/task.hpp"

namespace kerf {
namespace {

struct Language {
  std::string target;
  codegen::DialectTraits dialect;
  bool runs_on_host;
  std::string compiler;  ///< with options
};

constexpr const char* kWarnings =
    " -fsyntax-only -Werror -Wunused-parameter -Wunused-variable -Wunused-function -Wno-unknown-pragmas ";

bool succeeds(const std::string& command) { return std::system(command.c_str()) == 0; }

std::vector<std::filesystem::path> task_files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"tests/conformance/families/cases", "tasks"})
    for (const auto& entry : std::filesystem::directory_iterator(source_folder() / folder))
      if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// What Kerf's compilers have before a kernel: headers, and the shape symbols and tunables as constants.
std::string preamble(const Language& language, const ShapeSet& shape, const Candidate& candidate) {
  std::string text = language.dialect.host_entry ? "#include <omp.h>\n#include <immintrin.h>\n" : "";
  Bindings constants = shape.symbols;
  for (const Tunable& tunable : candidate.tunables) constants[tunable.name] = tunable.values.front();
  for (const auto& [name, value] : constants)
    text += language.dialect.host_entry ? "constexpr int " + name + " = " + std::to_string(value) + ";\n"
                                        : "enum { " + name + " = " + std::to_string(value) + " };\n";
  return text + "#line 1 \"kernel\"\n";
}

/// Compiles a sample of what is written for `language`.
void expect_nothing_unused(const Language& language) {
  const auto folder = std::filesystem::temp_directory_path() / "kerf_readable";
  std::filesystem::create_directories(folder);
  const std::string source = (folder / (language.target + std::to_string(language.runs_on_host))).string();
  DeviceFacts facts;
  facts.runs_on_host = language.runs_on_host;
  std::map<std::string, int> times;
  for (const auto& file : task_files()) {
    const auto task = load_task(file);
    ASSERT_TRUE(task) << task.error().message;
    const auto shapes = shapes_for(*task, language.target);
    const auto synthesiser = synth::Synthesiser::create(*task, language.target, language.dialect, facts);
    if (shapes.empty() || !synthesiser) continue;
    for (const synth::Genome& genome : (*synthesiser)->starts()) {
      bool wanted = false;
      for (const synth::Gene& gene : genome.genes) wanted |= times[gene.family + "/" + gene.variant] < 2;
      if (!wanted) continue;
      for (const synth::Gene& gene : genome.genes) ++times[gene.family + "/" + gene.variant];
      const auto candidate = (*synthesiser)->render(genome);
      ASSERT_TRUE(candidate) << candidate.error().message;
      ASSERT_TRUE(write_file_atomic(source, preamble(language, shapes.front(), *candidate) + candidate->source));
      EXPECT_TRUE(succeeds(language.compiler + kWarnings + source))
          << file << ": " << (*synthesiser)->describe(genome) << "\n"
          << candidate->source;
    }
  }
  EXPECT_GT(times.size(), 5u);
}

TEST(ReadableKernels, HaveNothingUnusedInCpp) {
  if (!succeeds("g++ --version > /dev/null 2>&1")) GTEST_SKIP() << "there is no g++ here";
  expect_nothing_unused({"cpu", codegen::dialects::cpp, true, "g++ -std=gnu++20 -fopenmp -march=native -x c++"});
}

TEST(ReadableKernels, HaveNothingUnusedInOpenclC) {
  std::string clang;
  for (const char* name : {"clang", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14"})
    if (clang.empty() && succeeds(std::string(name) + " --version > /dev/null 2>&1")) clang = name;
  if (clang.empty()) GTEST_SKIP() << "there is no clang here";
  clang += " -x cl -cl-std=CL2.0 -target x86_64 -Xclang -finclude-default-header -Wno-everything";
  for (const bool runs_on_host : {true, false})
    expect_nothing_unused({"opencl", codegen::dialects::opencl_c, runs_on_host, clang});
}

}  // namespace
}  // namespace kerf
