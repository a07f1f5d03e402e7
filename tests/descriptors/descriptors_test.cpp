// Every level of every behaviour dimension is reached by a small kernel, on every target:
// <target>/<dimension>_<level>_<what>.

#include "inspect/descriptors.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "../target_environment.hpp"
#include "base/file.hpp"
#include "base/test_paths.hpp"
#include "base/text.hpp"
#include "build/build.hpp"
#include "codegen/dialect.hpp"
#include "target/target.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

const Bindings kConstants{{"n", 4096}, {"m", 64}, {"k", 64}};
constexpr const char* kCudaArchitecture = "sm_90";

struct Case {
  std::string target, dimension, name;
  int level = 0;
  fs::path file;
};

/// Levels are read off compiled code, so one target per language is enough: the first. A language that no builtin
/// kernel is written in has none.
std::vector<std::string> language_targets() {
  std::set<std::string> languages;
  std::vector<std::string> names;
  for (const TargetDescription& target : target_descriptions())
    if (!target.dialect->layer.empty() && languages.insert(std::string(target.dialect->language)).second)
      names.push_back(target.name);
  return names;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string& target : language_targets())
    for (const auto& entry : fs::directory_iterator(source_folder() / "tests/descriptors" / target)) {
      const std::string stem = entry.path().stem().string();
      const auto parts = split(stem, '_');
      cases.push_back({target, parts.at(0), target + "_" + stem, std::stoi(parts.at(1)), entry.path()});
    }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

/// Compilers stay up for all cases of this program.
struct Toolbox {
  std::unique_ptr<Sandbox> sandbox = make_sandbox();
  std::map<std::string, Result<Target>> targets;

  const Result<Target>& target(const std::string& name) {
    const auto known = targets.find(name);
    if (known != targets.end()) return known->second;
    TargetResources context;
    context.self = kerf_program();
    context.cache =
        fs::temp_directory_path() / "kerf_descriptors";  // without one, drivers write where they are started
    context.sandbox = sandbox.get();
    context.environment = target_environment();
    if (*KERF_NVRTC_DIR != '\0') context.environment["KERF_NVRTC"].insert(0, std::string(KERF_NVRTC_DIR) + ":");
    context.compile_jobs = 1;
    return targets.emplace(name, make_target(name, context, "", true)).first->second;
  }
};

Toolbox& toolbox() {
  static Toolbox tools;
  return tools;
}

class Levels : public testing::TestWithParam<Case> {};

TEST_P(Levels, AreReadOffCompiledCode) {
  const auto& target = toolbox().target(GetParam().target);
  if (!target && target.error().code == Errc::unavailable) GTEST_SKIP() << target.error().message;
  ASSERT_TRUE(target) << target.error().message;
  const auto source = read_file(GetParam().file);
  const auto candidate = parse_candidate(GetParam().name, source.value());
  ASSERT_TRUE(candidate) << candidate.error().message;
  const std::string arch = GetParam().target == "cuda" ? kCudaArchitecture
                           : target->device            ? target->device->facts().arch
                                                       : "";
  const auto outcome = target->language->compile(make_request(*candidate, kConstants, arch));
  ASSERT_TRUE(outcome) << outcome.error().message;
  // Sub-groups are an extension that this machine's OpenCL may lack, and PoCL 5.0 as Ubuntu packages it has no
  // wait_group_events; tokens are read all the same.
  const auto* failed = std::get_if<CompileFailed>(&*outcome);
  const bool may_lack =
      GetParam().name == "opencl_parallelism_2_exchange" ||
      (failed != nullptr && failed->log.find("undefined symbol: _Z21_cl_wait_group_events") != std::string::npos);
  if (!may_lack) {
    ASSERT_TRUE(std::holds_alternative<Artifact>(*outcome)) << std::get<CompileFailed>(*outcome).log;
  }
  const auto* built = std::get_if<Artifact>(&*outcome);
  const Descriptors found = describe(built != nullptr ? *built : Artifact{}, *candidate, kConstants);
  ASSERT_EQ(found.cell.size(), static_cast<std::size_t>(kDimensions));
  for (int d = 0; d < kDimensions; ++d) {
    if (dimension_name(d) != GetParam().dimension) continue;
    EXPECT_EQ(found.cell[static_cast<std::size_t>(d)], GetParam().level) << to_json(found, "");
  }
  const std::string from = GetParam().target == "cpu"    ? "object code"
                           : GetParam().target == "cuda" ? "PTX"
                                                         : "source tokens";
  if (GetParam().target != "opencl" || found.from != "PTX") {  // some drivers give PTX for OpenCL too
    EXPECT_EQ(found.from, from);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Levels, testing::ValuesIn(all_cases()),
                         [](const auto& each) { return each.param.name; });

TEST(LevelKernels, CoverEveryLevelOfEveryDimensionOnEveryTarget) {
  std::set<std::string> covered;
  for (const Case& one : all_cases()) covered.insert(one.target + one.dimension + std::to_string(one.level));
  for (const std::string& target : language_targets())
    for (int d = 0; d < kDimensions; ++d)
      for (int level = 0; level < kLevels; ++level)
        EXPECT_TRUE(covered.contains(target + std::string(dimension_name(d)) + std::to_string(level)))
            << target << " " << dimension_name(d) << " " << level;
}

}  // namespace
}  // namespace kerf
