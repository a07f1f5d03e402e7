#include "export/export.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.hpp"
#include "base/test_paths.hpp"
#include "codegen/dialects/dialects.hpp"
#include "export/parts.hpp"
#include "report/fixture_run.hpp"
#include "task/task.hpp"

namespace kerf::exporting {
namespace {

namespace fs = std::filesystem;

Task rmsnorm() { return parse_task(report::fixture_task(), "", "rmsnorm.toml").value(); }

std::string text_of(const std::vector<File>& files, const std::string& path) {
  for (const auto& file : files)
    if (file.path == path) return file.text;
  ADD_FAILURE() << "no file " << path;
  return "";
}

const Exporter& exporter_of(const std::string& target) {
  return target == "cpu" ? cpp_exporter() : target == "opencl" ? opencl_exporter() : cuda_exporter();
}

struct Exported {
  Task task = rmsnorm();
  Candidate candidate;
  Result<std::vector<File>> files = std::vector<File>{};
};

Exported exported(const std::string& target, Format format, std::map<std::string, Bindings> by_shape = {}) {
  Exported result;
  result.candidate = parse_candidate("k", report::fixture_kernel(target, 3, 64, 1)).value();
  result.files = export_files(
      exporter_of(target),
      {result.task, target, result.candidate, {{"BLOCK", 128}, {"UNROLL", 4}}, std::move(by_shape), "from a test"},
      format);
  return result;
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Export, EachCertifiedShapeIsAnInstanceWithItsOwnValues) {
  const auto result = exported("cpu", Format::source, {{"tall", {{"BLOCK", 32}, {"UNROLL", 1}}}});
  ASSERT_TRUE(result.files) << result.files.error().message;
  EXPECT_EQ(result.files->size(), 5u);
  const auto wide = text_of(*result.files, "rmsnorm_wide.cpp"), tall = text_of(*result.files, "rmsnorm_tall.cpp");
  EXPECT_HAS(wide, "static constexpr int rows = 96;");
  EXPECT_HAS(wide, "static constexpr int BLOCK = 128;");
  EXPECT_HAS(tall, "static constexpr int rows = 512;");
  EXPECT_HAS(tall, "static constexpr int BLOCK = 32;");
  EXPECT_HAS(text_of(*result.files, "rmsnorm.cpp"),
             "if (cols == 101 && rows == 33) return rmsnorm_set_tail_run(kerf_buffers);");
  EXPECT_HAS(text_of(*result.files, "rmsnorm.cpp"), "return RMSNORM_INVALID_SHAPE");
}

TEST(Export, EveryFileSaysThatKerfWroteIt) {
  for (const char* target : {"cpu", "opencl", "cuda"})
    for (const Format format : {Format::source, Format::c_header, Format::cmake}) {
      const auto result = exported(target, format);
      ASSERT_TRUE(result.files) << result.files.error().message;
      for (const File& file : *result.files) EXPECT_TRUE(is_exported(file.text)) << file.path;
    }
  EXPECT_FALSE(is_exported(report::fixture_kernel("cpu", 3, 64, 1)));
  EXPECT_FALSE(is_exported(""));
}

TEST(Export, TheHeaderSaysWhatWasCertifiedAndWhereItIsFrom) {
  const auto result = exported("cpu", Format::source);
  const auto header = text_of(*result.files, "rmsnorm.h");
  EXPECT_HAS(header, "from a test");
  EXPECT_HAS(header, "x f32[rows, cols], input");
  EXPECT_HAS(header, "tail: rows = 33, cols = 101");
  EXPECT_HAS(header, "long long rows, cols;\n} rmsnorm_shape;") << "in the task's order";
  EXPECT_HAS(header, "int rmsnorm(rmsnorm_shape kerf_shape, const float* x, const float* w, float* y);");
}

TEST(Export, TheHeaderNamesTaskKernelDateAndLicence) {
  const Task task = rmsnorm();
  const auto candidate = parse_candidate("k", report::fixture_kernel("cpu", 3, 64, 1)).value();
  const Bindings tunables{{"BLOCK", 128}, {"UNROLL", 4}};
  const Winner winner{task, "cpu", candidate, tunables, {}, "from a test", "scaled_rows", "2026-03-14"};
  const auto files = export_files(cpp_exporter(), winner, Format::source);
  ASSERT_TRUE(files) << files.error().message;
  const auto header = text_of(*files, "scaled_rows.h");
  EXPECT_HAS(header, "Task id: " + task.id);
  EXPECT_HAS(header, "id " + candidate.id);
  EXPECT_HAS(header, " on 2026-03-14.");
  EXPECT_HAS(header, "SPDX-License-Identifier: Apache-2.0");
  EXPECT_HAS(header, "int scaled_rows(scaled_rows_shape kerf_shape,");
  EXPECT_EQ(header.find("rmsnorm("), std::string::npos);
}

TEST(Export, ANameThatIsNoIdentifierOrIsTakenIsRefused) {
  const Task task = rmsnorm();
  const auto candidate = parse_candidate("k", report::fixture_kernel("cpu", 3, 64, 1)).value();
  const Bindings tunables{{"BLOCK", 128}, {"UNROLL", 4}};
  for (const std::string name : {"two words", "float", "x", "rows"}) {
    const auto refused =
        export_files(cpp_exporter(), {task, "cpu", candidate, tunables, {}, "", name, ""}, Format::source);
    ASSERT_FALSE(refused) << name;
    EXPECT_HAS(refused.error().message, "'" + name + "'");
  }
}

TEST(Export, LaunchPlansBecomeHostCode) {
  const auto cuda = exported("cuda", Format::source);
  ASSERT_TRUE(cuda.files) << cuda.files.error().message;
  const auto wide = text_of(*cuda.files, "rmsnorm_wide.cu");
  EXPECT_HAS(wide, "#define square_sums rmsnorm_set_wide_square_sums");
  EXPECT_HAS(wide, "square_sums<<<kerf_three(rows, 1, 1), kerf_three(BLOCK, 1, 1)");
  EXPECT_HAS(wide, "cudaMallocAsync");
  const auto opencl = exported("opencl", Format::source);
  EXPECT_HAS(text_of(*opencl.files, "rmsnorm.c"), "rmsnorm_kerf_set_launch(&kerf_plan->launches[1], \"scale_rows\"");
  const auto kernel = text_of(*opencl.files, "rmsnorm.cl");
  EXPECT_EQ(kernel.substr(kernel.find('\n') + 1), opencl.candidate.source) << "below the line that says who wrote it";
  EXPECT_EQ(parse_candidate("k", kernel).value().tunables.size(), opencl.candidate.tunables.size());
}

TEST(Export, OneHeaderHoldsEverything) {
  for (const std::string target : {"cpu", "opencl", "cuda"}) {
    const auto result = exported(target, Format::c_header);
    ASSERT_TRUE(result.files);
    ASSERT_EQ(result.files->size(), 1u);
    EXPECT_HAS((*result.files)[0].text,
               "#if defined(RMSNORM_IMPLEMENTATION) && !defined(KERF_EXPORT_RMSNORM_IMPLEMENTED)");
  }
}

TEST(Export, AMissingValueOrABrokenRequirementIsRefused) {
  const Task task = rmsnorm();
  auto candidate = parse_candidate("k", report::fixture_kernel("cpu", 3, 64, 1)).value();
  EXPECT_FALSE(export_files(cpp_exporter(), {task, "cpu", candidate, {{"BLOCK", 1}}, {}, ""}, Format::source));
  candidate = parse_candidate("k", "/* kerf\ntarget: cpu\nrequire: cols % 4 == 0\n*/\n").value();
  const auto refused = export_files(cpp_exporter(), {task, "cpu", candidate, {}, {}, ""}, Format::source);
  ASSERT_FALSE(refused);
  EXPECT_HAS(refused.error().message, "shape set 'tail'");
}

TEST(Export, NamesAreMadeFitForC) {
  Task task = rmsnorm();
  const auto candidate = parse_candidate("k", report::fixture_kernel("cpu", 3, 64, 1)).value();
  task.name = "2d-conv";
  EXPECT_EQ(function_name({task, "cpu", candidate, {}, {}, ""}), "kernel_2d_conv");
  task.name = "double";
  EXPECT_EQ(function_name({task, "cpu", candidate, {}, {}, ""}), "kernel_double");
  EXPECT_EQ(format_from_name("cmake"), Format::cmake);
  EXPECT_EQ(format_from_name("zip"), std::nullopt);
}

TEST(Export, TextBecomesALiteralThatReadsBackTheSame) {
  EXPECT_EQ(string_literal("a\"b\\c\n", ""), R"("a\"b\\c\n")");
  EXPECT_EQ(string_literal("a\nb", " "), " \"a\\n\"\n \"b\"");
  EXPECT_EQ(string_literal("\xff?", ""), "\"\\377\\?\"");
  EXPECT_EQ(string_literal("", ""), "\"\"");
}

TEST(Export, ACommentCannotBeEndedByADescription) {
  const Task task = rmsnorm();
  const auto candidate = parse_candidate("k", report::fixture_kernel("cpu", 3, 64, 1)).value();
  const auto values = common_values({task, "cpu", candidate, {}, {}, "evil */ int x;"});
  const std::string text = *values.at("BANNER").text();
  EXPECT_TRUE(text.starts_with("   evil * / int x;\n")) << text;
  EXPECT_EQ(text.find("*/"), std::string::npos);
}

TEST(Repeatable, MovesIncludesOutAndListsMacros) {
  const auto part = make_repeatable("#pragma once\n#include <cmath>\n  # define N(x) (x)\n#define M 4\nint f();\n");
  EXPECT_EQ(part.includes, std::vector<std::string>{"<cmath>"});
  EXPECT_EQ(part.macros, (std::vector<std::string>{"N", "M"}));
  EXPECT_EQ(part.code.find("#include"), std::string::npos);
  EXPECT_HAS(part.code, "int f();");
}

TEST(RuntimeNaive, SymbolsBecomeParametersOfEveryFunction) {
  const auto naive = runtime_naive(rmsnorm(), codegen::dialects::cpp, DType::f64, true, "plain").value();
  EXPECT_HAS(naive.code,
             "static void plain([[maybe_unused]] const long long rows, [[maybe_unused]] const long long cols, ");
  EXPECT_HAS(naive.code, "plain_kerf_plain_0(rows, cols, ");
  EXPECT_HAS(naive.code, "#pragma omp parallel for\n  for (kerf_index");
  EXPECT_EQ(naive.code.find("kerf_kernel"), std::string::npos);
  EXPECT_EQ(naive.plan.scratch.size(), 1u);
}

TEST(Export, ATaskWithACppReferenceIsCheckedAgainstItAndRefusesOtherShapes) {
  const Task task = load_task(source_folder() / "tasks/cpp_reference/box_filter.toml").value();
  const auto candidate = parse_candidate("k", task.baselines.at(0).source).value();
  const auto files = export_files(cpp_exporter(), {task, "cpu", candidate, {}, {}, "a test"}, Format::cmake);
  ASSERT_TRUE(files) << files.error().message;
  std::string pattern = (fs::temp_directory_path() / "kerf-export-XXXXXX").string();
  const fs::path root = ::mkdtemp(pattern.data());
  for (const auto& file : *files) ASSERT_TRUE(write_file_atomic(root / file.path, file.text));
  const std::string build =
      "cd " + root.string() + " && g++ -std=gnu++20 -O1 -fopenmp -w *.cpp -o check 2>log && ./check >out";
  EXPECT_EQ(std::system(build.c_str()), 0)
      << read_file(root / "log").value_or("") << read_file(root / "out").value_or("");
  EXPECT_HAS(read_file(root / "out").value_or(""), "all right");
  EXPECT_NE(std::system(("cd " + root.string() + " && ./check height=9 width=9 >out").c_str()), 0);
  fs::remove_all(root);
}

}  // namespace
}  // namespace kerf::exporting
